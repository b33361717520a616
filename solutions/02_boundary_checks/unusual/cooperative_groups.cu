// Unusual: The index comes from cooperative groups, the guard sits in a template that runs a
// function object for one element, and the launch goes through cudaLaunchKernelEx.
// SPDX-License-Identifier: MIT
// Lesson 02, boundary checks: kernels and launches that are right for every n, zero included.
// Start with README.md in this directory; `make 02` checks this file.
#include "boundary_checks.h"

#include <cooperative_groups.h>

// Runs body(i) for this thread's element, if there is one.
template <class Body>
__device__ void for_my_element(int n, Body body) {
    const auto i = cooperative_groups::this_grid().thread_rank();
    if (i < static_cast<unsigned long long>(n)) body(static_cast<int>(i));
}

// One thread per element. The grid may hold more threads than there are elements.
__global__ void vector_add_kernel(const float* a, const float* b, float* c, int n) {
    for_my_element(n, [=](int i) { c[i] = a[i] + b[i]; });
}

void vector_add_on_grid(const float* d_a, const float* d_b, float* d_c, int n, int blocks,
                        int threads) {
    vector_add_kernel<<<blocks, threads>>>(d_a, d_b, d_c, n);
    CUDA_CHECK(cudaGetLastError());
}

long long ceil_div(long long n, int size) {
    return (n + size - 1) / size;
}

// Launches kernel(args...) with at least n threads and less than one block to spare. `args...` is
// the list of the kernel's arguments, however many there are.
template <class Kernel, class... Args>
void launch_1d(Kernel kernel, [[maybe_unused]] long long n, Args... args) {
    if (n == 0) return;
    cudaLaunchConfig_t shape{};
    shape.gridDim = dim3(static_cast<unsigned>(ceil_div(n, kThreadsPerBlock)));
    shape.blockDim = dim3(kThreadsPerBlock);
    CUDA_CHECK(cudaLaunchKernelEx(&shape, kernel, args...));
    CUDA_CHECK(cudaGetLastError());
}

void vector_add(const float* d_a, const float* d_b, float* d_c, int n) {
    launch_1d(vector_add_kernel, n, d_a, d_b, d_c, n);
}

__host__ __device__ int wrap_index(int i, int length) {
    const int rest = i % length;
    return rest < 0 ? rest + length : rest;
}

// Adds 1 to *errors, even when many threads do so at the same time (lesson 17 shows how).
__device__ void count_error(int* errors) {
    atomicAdd(errors, 1);
}

__global__ void gather_kernel(const float* values, int length, const int* index, float* out, int n,
                              OutOfRange policy, int* errors) {
    [[maybe_unused]] const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    int from = index[k];
    if (policy == OutOfRange::kWrap) {
        from = wrap_index(from, length);
    } else if (policy == OutOfRange::kClamp) {
        from = max(0, min(from, length - 1));
    } else if (from < 0 || from >= length) {
        count_error(errors);
        return;
    }
    out[k] = values[from];
}

void gather(const float* d_values, int length, const int* d_index, float* d_out, int n,
            OutOfRange policy, int* d_errors) {
    CUDA_CHECK(cudaMemset(d_errors, 0, sizeof(int)));
    launch_1d(gather_kernel, n, d_values, length, d_index, d_out, n, policy, d_errors);
}
