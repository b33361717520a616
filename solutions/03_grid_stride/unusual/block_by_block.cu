// Unusual: Each block takes stretches of blockDim.x elements, every gridDim.x-th of them, and
// leaves when there are none.
// SPDX-License-Identifier: MIT
// Lesson 03, grid stride: one kernel for every launch shape.
// Start with README.md in this directory; `make 03` checks this file.
#include "grid_stride.h"

__host__ __device__ size_t global_index([[maybe_unused]] unsigned block,
                                        [[maybe_unused]] unsigned block_size,
                                        [[maybe_unused]] unsigned thread) {
    return static_cast<size_t>(block) * block_size + thread;
}

__host__ __device__ size_t grid_stride([[maybe_unused]] unsigned blocks,
                                       [[maybe_unused]] unsigned block_size) {
    return static_cast<size_t>(blocks) * block_size;
}

// Any number of threads for any number of elements.
__global__ void add_kernel(const float* a, const float* b, float* out, size_t n) {
    for (size_t base = size_t{blockIdx.x} * blockDim.x; base < n;
         base += grid_stride(gridDim.x, blockDim.x)) {
        const size_t i = base + threadIdx.x;
        if (i < n) out[i] = a[i] + b[i];
    }
}

void add(const float* d_a, const float* d_b, float* d_out, size_t n, int blocks, int threads) {
    add_kernel<<<blocks, threads>>>(d_a, d_b, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void square_kernel(float* data, size_t n) {
    size_t stretch = blockIdx.x;
    const size_t stretches = (n + blockDim.x - 1) / blockDim.x;
    for (; stretch < stretches; stretch += gridDim.x) {
        const size_t i = stretch * blockDim.x + threadIdx.x;
        if (i >= n) continue;
        data[i] *= data[i];
    }
}

void square(float* d_data, size_t n, int blocks, int threads) {
    square_kernel<<<blocks, threads>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}
