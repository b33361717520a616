// Unusual: No block has more than 1024 threads, so a fixed tile of 1025 floats holds any part and
// its right neighbour.
// SPDX-License-Identifier: MIT
// Lesson 14, shared memory and barriers: threads of a block hand each other values through a tile.
// Start with README.md in this directory; `make 14` checks this file.
#include "shared_memory_barriers.h"

// Blocks of `threads` threads for n elements, one thread each.
static int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

__global__ void differences_kernel(const float* in, float* out, int n) {
    __shared__ float tile[1025];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    const int count = min(static_cast<int>(blockDim.x), n - (i - t));
    if (t < count) tile[t] = in[i];
    if (t == 0) tile[count] = i + count < n ? in[i + count] : 0.0f;
    __syncthreads();
    if (t < count) out[i] = tile[t + 1] - tile[t];
}

void differences(const float* d_in, float* d_out, int n, int threads) {
    if (n == 0) return;
    differences_kernel<<<blocks_for(n, threads), threads>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

// In place: data holds n floats, and each block touches its own part only.
__global__ void reverse_blocks_kernel(float* data, int n) {
    __shared__ float tile[1024];
    const int t = threadIdx.x;
    const int first = blockIdx.x * blockDim.x;
    const int count = min(static_cast<int>(blockDim.x), n - first);
    if (t < count) tile[t] = data[first + t];
    __syncthreads();  // below, a thread reads the slot of its mirror image
    if (t < count) data[first + t] = tile[count - 1 - t];
}

void reverse_blocks(float* d_data, int n, int threads) {
    if (n == 0) return;
    reverse_blocks_kernel<<<blocks_for(n, threads), threads>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void reverse_array_kernel(const float* in, float* out, int n) {
    __shared__ float tile[1024];
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
    reverse_array_kernel<<<blocks_for(n, threads), threads>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}
