// Unusual: The weights travel with each launch, as a struct by value: kernel parameters lie in
// constant memory too.
// SPDX-License-Identifier: MIT
// Lesson 15, stencils: each output needs its neighbours, and all outputs need the same weights.
// Start with README.md in this directory; `make 15` checks this file.
#include "stencil_constant_memory.h"

#include <algorithm>
#include <utility>

struct Weights {
    float at[2 * kMaxRadius + 1];
};

// The weights that the next launch gets.
static Weights stencil_weights;

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
    std::copy(weights, weights + 2 * radius + 1, stencil_weights.at);
}

__global__ void read_weights_kernel(float* out, int count,
                                    const __grid_constant__ Weights weights) {
    for (int k = threadIdx.x; k < count; k += blockDim.x) out[k] = weights.at[k];
}

void read_weights(float* d_out, int count) {
    read_weights_kernel<<<1, 32>>>(d_out, count, stencil_weights);
    CUDA_CHECK(cudaGetLastError());
}

// Launched with 2 * radius floats more of dynamic shared memory than there are threads in a block.
__global__ void stencil_kernel(const float* in, float* out, int n, int radius, Border border,
                               const __grid_constant__ Weights weights) {
    extern __shared__ float tile[];
    const int threads = blockDim.x;
    const int t = threadIdx.x;
    const int first = static_cast<int>(blockIdx.x) * threads - radius;
    for (int slot = t; slot < threads + 2 * radius; slot += threads) {
        const int j = first + slot;
        const int nearest = min(max(j, 0), n - 1);
        tile[slot] = j == nearest || border == Border::kClamp ? in[nearest] : 0.0f;
    }
    __syncthreads();  // below, a thread reads slots that its neighbours have filled
    const int i = static_cast<int>(blockIdx.x) * threads + t;
    if (i < n) {
        float sum = 0.0f;
        for (int k = 0; k <= 2 * radius; ++k) sum += weights.at[k] * tile[t + k];
        out[i] = sum;
    }
}

void stencil(const float* d_in, float* d_out, int n, int radius, Border border, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = (threads + 2 * radius) * sizeof(float);
    stencil_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(
        d_in, d_out, n, radius, border, stencil_weights);
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
