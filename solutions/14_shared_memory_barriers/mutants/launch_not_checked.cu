// Mutant: nobody asks whether the launch of differences was refused.
// verdict: fails "task 1: a refused launch is an exception"
// SPDX-License-Identifier: MIT
// Lesson 14, shared memory and barriers: threads of a block hand each other values through a tile.
// Start with README.md in this directory; `make 14` checks this file.
#include "shared_memory_barriers.h"

// Blocks of `threads` threads for n elements, one thread each.
static int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

__global__ void differences_kernel(const float* in, float* out, int n) {
    extern __shared__ float tile[];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    if (i < n) tile[t] = in[i];
    __syncthreads();
    if (i < n) {
        float next = 0;
        if (i + 1 < n) next = t + 1 < blockDim.x ? tile[t + 1] : in[i + 1];
        out[i] = next - tile[t];
    }
}
void differences(const float* d_in, float* d_out, int n, int threads) {
    if (n == 0) return;
    differences_kernel<<<blocks_for(n, threads), threads, threads * sizeof(float)>>>(
        d_in, d_out, n);
}

// In place: data holds n floats, and each block touches its own part only.
__global__ void reverse_blocks_kernel(float* data, int n) {
    extern __shared__ float tile[];
    const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    const int count = min((int)blockDim.x, n - first);
    if (t < count) tile[t] = data[first + t];
    __syncthreads();
    if (t < count) data[first + t] = tile[count - 1 - t];
}

void reverse_blocks(float* d_data, int n, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = threads * sizeof(float);
    reverse_blocks_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void reverse_array_kernel(const float* in, float* out, int n) {
    extern __shared__ float tile[];
    const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    const int count = min((int)blockDim.x, n - first);
    if (t < count) tile[t] = in[first + t];
    __syncthreads();
    if (t < count) out[n - first - count + t] = tile[count - 1 - t];
}

void reverse_array(const float* d_in, float* d_out, int n, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = threads * sizeof(float);
    reverse_array_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}
