// Unusual: A barrier object of libcu++ in shared memory, and a barrier written in PTX.
// SPDX-License-Identifier: MIT
// Lesson 14, shared memory and barriers: threads of a block hand each other values through a tile.
// Start with README.md in this directory; `make 14` checks this file.
#include "shared_memory_barriers.h"
#include <cuda/barrier>

// Blocks of `threads` threads for n elements, one thread each.
static int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

__global__ void differences_kernel(const float* in, float* out, int n) {
    extern __shared__ float tile[];  // one slot for each thread, sized by the launch
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) {
        float right;
        if (t + 1 < blockDim.x)
            right = tile[t + 1];
        else
            right = i + 1 < n ? in[i + 1] : 0;
        out[i] = right - tile[t];
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
    const int first = blockIdx.x * blockDim.x;
    const int t = threadIdx.x;
    const int count = min(int(blockDim.x), n - first);
    if (t < count) tile[t] = data[first + t];
    asm volatile("bar.sync 0;" ::: "memory");
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
    const int first = blockIdx.x * blockDim.x;
    const int t = threadIdx.x;
    const int count = min(int(blockDim.x), n - first);
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    if (t < count) tile[count - 1 - t] = in[first + t];
    bar.arrive_and_wait();
    if (t < count) out[n - first - count + t] = tile[t];
}

void reverse_array(const float* d_in, float* d_out, int n, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = threads * sizeof(float);
    reverse_array_kernel<<<blocks_for(n, threads), threads, tile_bytes>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}
