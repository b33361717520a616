// Unusual: Early return instead of a guarded store, a remainder test instead of n + size - 1, dim3
// in the launch, a double remainder, comparisons instead of min and max, and one atomic addition
// per warp.
// SPDX-License-Identifier: MIT
// Lesson 02, boundary checks: kernels and launches that are right for every n, zero included.
// Start with README.md in this directory; `make 02` checks this file.
#include "boundary_checks.h"

// One thread per element. The grid may hold more threads than there are elements.
__global__ void vector_add_kernel(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = a[i] + b[i];
}

void vector_add_on_grid(const float* d_a, const float* d_b, float* d_c, int n, int blocks,
                        int threads) {
    vector_add_kernel<<<blocks, threads>>>(d_a, d_b, d_c, n);
    CUDA_CHECK(cudaGetLastError());
}

long long ceil_div(long long n, int size) {
    return n / size + (n % size != 0 ? 1 : 0);
}

// Launches kernel(args...) with at least n threads and less than one block to spare. `args...` is
// the list of the kernel's arguments, however many there are.
template <class Kernel, class... Args>
void launch_1d(Kernel kernel, [[maybe_unused]] long long n, Args... args) {
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>(ceil_div(n, kThreadsPerBlock));
    kernel<<<dim3(blocks, 1, 1), dim3(kThreadsPerBlock), 0>>>(args...);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add(const float* d_a, const float* d_b, float* d_c, int n) {
    launch_1d(vector_add_kernel, n, d_a, d_b, d_c, n);
}

__host__ __device__ int wrap_index(int i, int length) {
    return (i % length + length) % length;
}

__global__ void gather_kernel(const float* values, int length, const int* index, float* out, int n,
                              OutOfRange policy, int* errors) {
    [[maybe_unused]] const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    int from = index[k];
    if (policy == OutOfRange::kWrap) {
        from = wrap_index(from, length);
    } else if (policy == OutOfRange::kClamp) {
        if (from < 0) from = 0;
        if (from >= length) from = length - 1;
    } else if (from < 0 || from >= length) {
        const unsigned bad = __activemask();  // the lanes that came here together
        const int first = __ffs(bad) - 1;
        if (int(threadIdx.x % warpSize) == first) atomicAdd(errors, __popc(bad));
        return;
    }
    out[k] = values[from];
}

void gather(const float* d_values, int length, const int* d_index, float* d_out, int n,
            OutOfRange policy, int* d_errors) {
    CUDA_CHECK(cudaMemset(d_errors, 0, sizeof(int)));
    launch_1d(gather_kernel, n, d_values, length, d_index, d_out, n, policy, d_errors);
}
