// Variant: every thread loads its whole neighbourhood from global memory.
// verdict: efficient "efficient: the moving average loads its elements and one halo for each block"
// verdict: efficient "efficient: the stencil loads its elements and two halos for each block"
// verdict: efficient "efficient: neighbouring threads use neighbouring addresses"
// SPDX-License-Identifier: MIT
// Lesson 15, stencils: each output needs its neighbours, and all outputs need the same weights.
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
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = max(0, i - window + 1); j <= i; ++j) sum += in[j];
    out[i] = sum / min(window, i + 1);
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
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * radius; ++k) {
        const int j = i + k - radius;
        const int nearest = min(max(j, 0), n - 1);
        if (j == nearest || border == Border::kClamp) sum += stencil_weights[k] * in[nearest];
    }
    out[i] = sum;
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
