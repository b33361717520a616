// Unusual: The weights are copied on into shared memory; even and odd products have sums of their
// own.
// SPDX-License-Identifier: MIT
// Lesson 15, stencils: each output needs its neighbours, and all outputs need the same weights.
// Start with README.md in this directory; `make 15` checks this file.
#include "stencil_constant_memory.h"

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
    const int threads = blockDim.x;
    const int t = threadIdx.x;
    const int first = static_cast<int>(blockIdx.x) * threads - (window - 1);
    for (int slot = t; slot < threads + window - 1; slot += threads) {
        const int j = first + slot;
        tile[slot] = j >= 0 && j < n ? in[j] : 0.0f;
    }
    __syncthreads();  // below, a thread reads slots that its neighbours have filled
    const int i = static_cast<int>(blockIdx.x) * threads + t;
    if (i < n) {
        float sum = 0.0f;
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
    const size_t bytes = (2 * radius + 1) * sizeof(float);
    CUDA_CHECK(cudaMemcpyToSymbol(stencil_weights, weights, bytes));
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
    __shared__ float w[2 * kMaxRadius + 1];
    const int T = blockDim.x, t = threadIdx.x;
    for (int k = t; k <= 2 * radius; k += T) w[k] = stencil_weights[k];
    for (int slot = t; slot < T + 2 * radius; slot += T) {
        int j = int(blockIdx.x) * T + slot - radius;
        float v = 0;
        if (j < 0) {
            if (border == Border::kClamp) v = in[0];
        } else if (j >= n) {
            if (border == Border::kClamp) v = in[n - 1];
        } else
            v = in[j];
        tile[slot] = v;
    }
    __syncthreads();
    const int i = int(blockIdx.x) * T + t;
    if (i < n) {
        float even = 0, odd = 0;
        for (int k = 0; k <= 2 * radius; k += 2) even += w[k] * tile[t + k];
        for (int k = 1; k <= 2 * radius; k += 2) odd += w[k] * tile[t + k];
        out[i] = even + odd;
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
    for (int step = 0; step < steps; ++step) {
        stencil(d_a, d_b, n, radius, border, threads);
        std::swap(d_a, d_b);  // the pointers, not the data
    }
    return d_a;
}
