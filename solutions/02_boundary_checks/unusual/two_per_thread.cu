// Unusual: Each thread adds two neighbours; the last thread adds one where n is odd. The two halves
// of a pair are still inside one warp's 256 bytes.
// SPDX-License-Identifier: MIT
// Lesson 02, boundary checks: kernels and launches that are right for every n, zero included.
// Start with README.md in this directory; `make 02` checks this file.
#include "boundary_checks.h"

// One thread per element. The grid may hold more threads than there are elements.
__global__ void vector_add_kernel(const float* a, const float* b, float* c, int n) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i] + b[i];
    if (i + 1 < n) c[i + 1] = a[i + 1] + b[i + 1];
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
    const unsigned blocks = static_cast<unsigned>(ceil_div(n, kThreadsPerBlock));
    kernel<<<blocks, kThreadsPerBlock>>>(args...);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add(const float* d_a, const float* d_b, float* d_c, int n) {
    launch_1d(vector_add_kernel, ceil_div(n, 2), d_a, d_b, d_c, n);
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
