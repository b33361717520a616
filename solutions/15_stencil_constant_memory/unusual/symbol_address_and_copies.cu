// Unusual: The weights are copied to the symbol's address; own element first, then both halos in
// rounds; steps in pairs.
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
    void* symbol = nullptr;
    CUDA_CHECK(cudaGetSymbolAddress(&symbol, stencil_weights));
    CUDA_CHECK(cudaMemcpyAsync(symbol, weights, bytes, cudaMemcpyDefault, nullptr));
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

__global__ void read_weights_kernel(float* out, int count) {
    for (int k = threadIdx.x; k < count; k += blockDim.x) out[k] = stencil_weights[k];
}

void read_weights(float* d_out, int count) {
    read_weights_kernel<<<1, 32>>>(d_out, count);
    CUDA_CHECK(cudaGetLastError());
}

// Launched with 2 * radius floats more of dynamic shared memory than there are threads in a block.
// Element j of the array, or what the border puts there.
__device__ float element(const float* in, int j, int n, Border border) {
    if (j >= 0 && j < n) return in[j];
    if (border == Border::kZero) return 0.0f;
    return j < 0 ? in[0] : in[n - 1];
}

__global__ void stencil_kernel(const float* in, float* out, int n, int radius, Border border) {
    extern __shared__ float tile[];
    float* centre = tile + radius;
    const int b = blockDim.x, t = threadIdx.x, first = blockIdx.x * b;
    centre[t] = element(in, first + t, n, border);
    for (int k = t + 1; k <= radius; k += b) {
        centre[-k] = element(in, first - k, n, border);
        centre[b - 1 + k] = element(in, first + b - 1 + k, n, border);
    }
    __syncthreads();
    if (first + t >= n) return;
    float sum = stencil_weights[radius] * centre[t];
    for (int k = 1; k <= radius; ++k) {
        sum = fmaf(stencil_weights[radius - k], centre[t - k], sum);
        sum = fmaf(stencil_weights[radius + k], centre[t + k], sum);
    }
    out[first + t] = sum;
}

void stencil(const float* d_in, float* d_out, int n, int radius, Border border, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = (threads + 2 * radius) * sizeof(float);
    stencil_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n, radius, border);
    CUDA_CHECK(cudaGetLastError());
}

float* repeat_stencil(float* d_a, float* d_b, int n, int radius, Border border, int threads,
                      [[maybe_unused]] int steps) {
    int step = 0;
    for (; step + 1 < steps; step += 2) {
        stencil(d_a, d_b, n, radius, border, threads);
        stencil(d_b, d_a, n, radius, border, threads);
    }
    if (step < steps) {
        stencil(d_a, d_b, n, radius, border, threads);
        return d_b;
    }
    return d_a;
}
