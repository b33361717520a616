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
    // TODO 1 (about 13 lines): load the block's elements and the window - 1 before them into a
    // tile, with as many rounds as it takes. Then let each thread sum its window, and divide by the
    // number of elements that are really in it.
    // END 1
}

void moving_average(const float* d_in, float* d_out, int n, int window, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = (threads + window - 1) * sizeof(float);
    moving_average_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n, window);
    CUDA_CHECK(cudaGetLastError());
}

void set_weights([[maybe_unused]] const float* weights, [[maybe_unused]] int radius) {
    // TODO 2 (about 2 lines): copy all 2 * radius + 1 weights into stencil_weights.
    // END 2
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
    // TODO 3 (about 15 lines): a tile again, now with a halo of `radius` slots on both sides. Slots
    // before the first and after the last element hold what `border` says. Then sum the products.
    // END 3
}

void stencil(const float* d_in, float* d_out, int n, int radius, Border border, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = (threads + 2 * radius) * sizeof(float);
    stencil_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n, radius, border);
    CUDA_CHECK(cudaGetLastError());
}

float* repeat_stencil(float* d_a, float* d_b, int n, int radius, Border border, int threads,
                      [[maybe_unused]] int steps) {
    // TODO 4 (about 4 lines): apply the stencil `steps` times. Each step reads one array and stores
    // to the other; then the two are swapped.
    stencil(d_a, d_b, n, radius, border, threads);
    // END 4
    return d_a;
}
