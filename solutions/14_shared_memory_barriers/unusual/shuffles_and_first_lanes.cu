// Unusual: Neighbours are shuffled; only the first value of each warp goes through shared memory.
// SPDX-License-Identifier: MIT
// Lesson 14, shared memory and barriers: threads of a block hand each other values through a tile.
// Start with README.md in this directory; `make 14` checks this file.
#include "shared_memory_barriers.h"

// Blocks of `threads` threads for n elements, one thread each.
static int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

__global__ void differences_kernel(const float* in, float* out, int n) {
    __shared__ float firsts[33];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    const int lane = t % 32, warp = t / 32;
    const float mine = i < n ? in[i] : 0;
    if (lane == 0) firsts[warp] = mine;
    __syncthreads();
    float right = 0;
    if (lane == 31 && t + 1 < blockDim.x) right = firsts[warp + 1];
    const unsigned mask = __activemask();
    float shuffled = __shfl_down_sync(mask, mine, 1);
    if (lane != 31) right = shuffled;
    if (t + 1 == blockDim.x) right = i + 1 < n ? in[i + 1] : 0;
    if (i < n) out[i] = right - mine;
}
void differences(const float* in, float* out, int n, int threads) {
    if (n == 0) return;
    differences_kernel<<<blocks_for(n, threads), threads>>>(in, out, n);
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
    const int mirror = n - first - count;  // the elements after this part come before it now
    if (t < count) out[mirror + t] = tile[t];
}

void reverse_array(const float* d_in, float* d_out, int n, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = threads * sizeof(float);
    reverse_array_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}
