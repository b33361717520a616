// SPDX-License-Identifier: MIT
// Lesson 02, boundary checks: kernels and launches that are right for every n, zero included.
// Start with README.md in this directory; `make 02` checks this file.
#include "boundary_checks.h"

// One thread per element. The grid may hold more threads than there are elements.
__global__ void vector_add_kernel(const float* a, const float* b, float* c, int n) {
    // TODO 1 (about 2 lines): find this thread's element and add, only if that element exists.
    // END 1
}

void vector_add_on_grid(const float* d_a, const float* d_b, float* d_c, int n, int blocks,
                        int threads) {
    vector_add_kernel<<<blocks, threads>>>(d_a, d_b, d_c, n);
    CUDA_CHECK(cudaGetLastError());
}

long long ceil_div(long long n, int size) {
    // TODO 2 (1 line): return n / size rounded up, with integers only.
    return n / size;  // placeholder
    // END 2
}

// Launches kernel(args...) with at least n threads and less than one block to spare. `args...` is
// the list of the kernel's arguments, however many there are.
template <class Kernel, class... Args>
void launch_1d(Kernel kernel, [[maybe_unused]] long long n, Args... args) {
    // TODO 3 (about 3 lines): return at once when n is 0. Otherwise work out the number of blocks
    // of kThreadsPerBlock threads, and launch that many instead of one.
    kernel<<<1, kThreadsPerBlock>>>(args...);  // placeholder
    // END 3
    CUDA_CHECK(cudaGetLastError());
}

void vector_add(const float* d_a, const float* d_b, float* d_c, int n) {
    launch_1d(vector_add_kernel, n, d_a, d_b, d_c, n);
}

__host__ __device__ int wrap_index(int i, int length) {
    // TODO 4 (about 2 lines): bring i into [0, length); note that -1 % 6 is -1, not 5.
    return i < length ? 0 : length - 1;  // placeholder
    // END 4
}

// Adds 1 to *errors, even when many threads do so at the same time (lesson 17 shows how).
__device__ void count_error(int* errors) {
    atomicAdd(errors, 1);
}

__global__ void gather_kernel(const float* values, int length, const int* index, float* out, int n,
                              OutOfRange policy, int* errors) {
    [[maybe_unused]] const int k = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO 5 (about 10 lines): set out[k] to values[index[k]]. Apply the policy before you read
    // `values`; under kCount call count_error(errors) for a bad index and leave out[k] alone.
    // END 5
}

void gather(const float* d_values, int length, const int* d_index, float* d_out, int n,
            OutOfRange policy, int* d_errors) {
    CUDA_CHECK(cudaMemset(d_errors, 0, sizeof(int)));
    launch_1d(gather_kernel, n, d_values, length, d_index, d_out, n, policy, d_errors);
}
