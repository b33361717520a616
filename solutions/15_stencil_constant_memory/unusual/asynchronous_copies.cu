// Unusual: The tile is filled by asynchronous copies, and the weights through the symbol's address.
// SPDX-License-Identifier: MIT
// Lesson 15, stencils: each output needs its neighbours, and all outputs need the same weights.
// Start with README.md in this directory; `make 15` checks this file.
#include "stencil_constant_memory.h"

#include <cuda_pipeline.h>

#include <utility>

// The weights, in constant memory: 64 kB that kernels can only read.
__constant__ float stencil_weights[2 * kMaxRadius + 1];

// Blocks of `threads` threads for n elements, one thread each.
static int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

// Launched with window - 1 floats more of dynamic shared memory than there are threads in a block.
__global__ void moving_average_kernel(const float* in, float* out, int n, int window) {
    extern __shared__ float tile[];
    const int t = threadIdx.x;
    const int block_first = blockIdx.x * blockDim.x;
    const int first = block_first - (window - 1);
    const int slots = blockDim.x + window - 1;
    for (int slot = t; slot < slots; slot += blockDim.x) {
        const int j = first + slot;
        tile[slot] = j >= 0 && j < n ? in[j] : 0.0f;
    }
    __syncthreads();
    const int i = block_first + t;
    if (i < n) {
        float sum = 0;
        for (int k = 0; k < window; ++k) sum += tile[t + k];
        out[i] = sum / min(window, i + 1);
    }
}

void moving_average(const float* d_in, float* d_out, int n, int window, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = (threads + window - 1) * sizeof(float);
    moving_average_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n, window);
    CUDA_CHECK(cudaGetLastError());
}

void set_weights([[maybe_unused]] const float* weights, [[maybe_unused]] int radius) {
    void* p = nullptr;
    CUDA_CHECK(cudaGetSymbolAddress(&p, stencil_weights));
    CUDA_CHECK(cudaMemcpy(p, weights, (2 * radius + 1) * sizeof(float), cudaMemcpyHostToDevice));
}

__global__ void read_weights_kernel(float* out, int count) {
    for (int k = threadIdx.x; k < count; k += blockDim.x) out[k] = stencil_weights[k];
}

void read_weights(float* d_out, int count) {
    read_weights_kernel<<<1, 32>>>(d_out, count);
    CUDA_CHECK(cudaGetLastError());
}

// Launched with 2 * radius floats more of dynamic shared memory than there are threads in a block.
__global__ void stencil_kernel(const float* in, float* out, int n, int radius, Border border) {
    extern __shared__ float tile[];
    const int t = threadIdx.x;
    const int block_first = blockIdx.x * blockDim.x;
    const int first = block_first - radius;
    const int slots = blockDim.x + 2 * radius;
    for (int slot = t; slot < slots; slot += blockDim.x) {
        const int j = first + slot;
        const int nearest = min(max(j, 0), n - 1);
        if (j == nearest || border == Border::kClamp)
            __pipeline_memcpy_async(&tile[slot], &in[nearest], 4);
        else
            tile[slot] = 0.0f;
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const int i = block_first + t;
    if (i < n) {
        float sum = 0;
        for (int k = 0; k <= 2 * radius; ++k) sum += stencil_weights[k] * tile[t + k];
        out[i] = sum;
    }
}

void stencil(const float* d_in, float* d_out, int n, int radius, Border border, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = (threads + 2 * radius) * sizeof(float);
    stencil_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n, radius, border);
    CUDA_CHECK(cudaGetLastError());
}

float* repeat_stencil(float* d_a, float* d_b, int n, int radius, Border border, int threads,
                      [[maybe_unused]] int steps) {
    for (int s = 0; s < steps; ++s) {
        stencil(d_a, d_b, n, radius, border, threads);
        std::swap(d_a, d_b);  // the pointers, not the data
    }
    return d_a;
}
