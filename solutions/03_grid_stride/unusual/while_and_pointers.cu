// Unusual: A while loop, moving pointers, and a loop that counts down from the last element.
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
    const size_t stride = grid_stride(gridDim.x, blockDim.x);
    size_t i = global_index(blockIdx.x, blockDim.x, threadIdx.x);
    if (i >= n) return;
    a += i, b += i, out += i;
    while (true) {
        *out = *a + *b;
        i += stride;
        if (i >= n) break;
        a += stride, b += stride, out += stride;
    }
}

void add(const float* d_a, const float* d_b, float* d_out, size_t n, int blocks, int threads) {
    add_kernel<<<blocks, threads>>>(d_a, d_b, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void square_kernel(float* data, size_t n) {
    const size_t stride = grid_stride(gridDim.x, blockDim.x);
    const size_t first = global_index(blockIdx.x, blockDim.x, threadIdx.x);
    if (first >= n) return;
    const size_t trips = (n - 1 - first) / stride + 1;
    for (size_t left = trips; left-- > 0;) {
        const float value = data[first + left * stride];
        data[first + left * stride] = value * value;
    }
}

void square(float* d_data, size_t n, int blocks, int threads) {
    square_kernel<<<blocks, threads>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}
