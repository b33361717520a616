// Mutant: the kernel as the lesson hands it out, launched: a tile of fixed size, a barrier in the
// guard, and a neighbour slot that nobody filled.
// verdict: finding barrier-divergence line @here
// verdict: finding out-of-bounds-shared line @here
// verdict: finding uninitialized-shared line @here
// verdict: fails "task 1: subtracts neighbours when all"
// SPDX-License-Identifier: MIT
// Lesson 14, shared memory and barriers: threads of a block hand each other values through a tile.
#include "shared_memory_barriers.h"

// Blocks of `threads` threads for n elements, one thread each.
static int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

__global__ void differences_kernel(const float* in, float* out, int n) {
    __shared__ float tile[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        tile[t] = in[i];
        __syncthreads();                 // <- here
        out[i] = tile[t + 1] - tile[t];  // <- here
    }
}

void differences(const float* d_in, float* d_out, int n, int threads) {
    if (n == 0) return;
    differences_kernel<<<blocks_for(n, threads), threads, threads * sizeof(float)>>>(
        d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

// In place: data holds n floats, and each block touches its own part only.
__global__ void reverse_blocks_kernel(float* data, int n) {
    extern __shared__ float tile[];
    const int t = threadIdx.x;
    const int first = blockIdx.x * blockDim.x;
    const int count = min(static_cast<int>(blockDim.x), n - first);
    if (t < count) tile[t] = data[first + t];
    __syncthreads();  // below, a thread reads the slot of its mirror image
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
    const int t = threadIdx.x;
    const int first = blockIdx.x * blockDim.x;
    const int count = min(static_cast<int>(blockDim.x), n - first);
    if (t < count) tile[count - 1 - t] = in[first + t];
    __syncthreads();  // below, a thread reads the slot that its mirror image has filled
    const int mirror = n - first - count;  // the elements behind this part come before it now
    if (t < count) out[mirror + t] = tile[t];
}

void reverse_array(const float* d_in, float* d_out, int n, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = threads * sizeof(float);
    reverse_array_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}
