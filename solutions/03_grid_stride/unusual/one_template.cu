// Unusual: One kernel template takes what is to be done; add and square pass it a function object.
// SPDX-License-Identifier: MIT
// Lesson 03, grid stride: one kernel for every launch shape.
// Start with README.md in this directory; `make 03` checks this file.
#include "grid_stride.h"

__host__ __device__ size_t global_index(unsigned block, unsigned block_size, unsigned thread) {
    return 1ull * block * block_size + thread;
}

__host__ __device__ size_t grid_stride(unsigned blocks, unsigned block_size) {
    return size_t{block_size} * blocks;
}

template <class Work>
__global__ void for_each_index(size_t n, Work work) {
    for (size_t i = global_index(blockIdx.x, blockDim.x, threadIdx.x); i < n;
         i += grid_stride(gridDim.x, blockDim.x)) {
        work(i);
    }
}

struct Add {
    const float *a, *b;
    float* out;
    __device__ void operator()(size_t i) const { out[i] = a[i] + b[i]; }
};

struct Square {
    float* data;
    __device__ void operator()(size_t i) const { data[i] *= data[i]; }
};

void add(const float* d_a, const float* d_b, float* d_out, size_t n, int blocks, int threads) {
    for_each_index<<<blocks, threads>>>(n, Add{d_a, d_b, d_out});
    CUDA_CHECK(cudaGetLastError());
}

void square(float* d_data, size_t n, int blocks, int threads) {
    for_each_index<<<blocks, threads>>>(n, Square{d_data});
    CUDA_CHECK(cudaGetLastError());
}
