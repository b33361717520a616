// SPDX-License-Identifier: MIT
// Lesson 03, grid stride: one kernel for every launch shape.
// Start with README.md in this directory; `make 03` checks this file.
#include "grid_stride.h"

__host__ __device__ size_t global_index([[maybe_unused]] unsigned block,
                                        [[maybe_unused]] unsigned block_size,
                                        [[maybe_unused]] unsigned thread) {
    // TODO 1 (1 line): return the index of lesson 01, computed in 64 bits throughout.
    //| return 0;  // placeholder
    return static_cast<size_t>(block) * block_size + thread;
    // END 1
}

__host__ __device__ size_t grid_stride([[maybe_unused]] unsigned blocks,
                                       [[maybe_unused]] unsigned block_size) {
    // TODO 2 (1 line): return the number of threads in the grid, in 64 bits. It is never 0.
    //| return 1;  // placeholder
    return static_cast<size_t>(blocks) * block_size;
    // END 2
}

// Any number of threads for any number of elements.
__global__ void add_kernel(const float* a, const float* b, float* out, size_t n) {
    // TODO 3 (about 4 lines): add at the index of this thread, then `grid_stride` further on, and
    // so on until the end of the array. Use the two functions above.
    const size_t stride = grid_stride(gridDim.x, blockDim.x);
    for (size_t i = global_index(blockIdx.x, blockDim.x, threadIdx.x); i < n; i += stride) {
        out[i] = a[i] + b[i];
    }
    // END 3
}

void add(const float* d_a, const float* d_b, float* d_out, size_t n, int blocks, int threads) {
    add_kernel<<<blocks, threads>>>(d_a, d_b, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

// TODO 4 (about 11 lines): replace the next line by a kernel that squares the elements in place,
// each once, with any number of threads, and a function `square` that launches it.
//| void square(float*, size_t, int, int) {}
__global__ void square_kernel(float* data, size_t n) {
    const size_t stride = grid_stride(gridDim.x, blockDim.x);
    for (size_t i = global_index(blockIdx.x, blockDim.x, threadIdx.x); i < n; i += stride) {
        const float value = data[i];
        data[i] = value * value;
    }
}

void square(float* d_data, size_t n, int blocks, int threads) {
    square_kernel<<<blocks, threads>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}
// END 4
