// Unusual: A block works through many parts in a loop that all its threads run alike, and fills one
// tile while the slower threads still read the other: one barrier for each part is enough.
// SPDX-License-Identifier: MIT
// Lesson 14, shared memory and barriers: threads of a block hand each other values through a tile.
// Start with README.md in this directory; `make 14` checks this file.
#include "shared_memory_barriers.h"

// Blocks of `threads` threads for n elements, one thread each.
static int blocks_for(int n, int threads) {
    return (n + threads - 1) / threads;
}

__global__ void differences_kernel(const float* in, float* out, int n) {
    extern __shared__ float tile[];  // one slot for each thread, sized by the launch
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? in[i] : 0.0f;  // a slot past the end holds the 0 that it stands for
    __syncthreads();                 // below, a thread reads the slot of its right neighbour
    if (i < n) {
        const bool in_tile = t + 1 < static_cast<int>(blockDim.x);
        const float right = in_tile ? tile[t + 1] : (i + 1 < n ? in[i + 1] : 0.0f);
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
    extern __shared__ float tiles[];
    const int t = threadIdx.x, size = blockDim.x;
    int turn = 0;
    for (int first = blockIdx.x * size; first < n; first += gridDim.x * size) {
        float* tile = tiles + turn * size;
        const int count = min(size, n - first);
        if (t < count) tile[count - 1 - t] = in[first + t];
        __syncthreads();  // the other tile is free: its readers have passed here since
        if (t < count) out[n - first - count + t] = tile[t];
        turn = 1 - turn;
    }
}

void reverse_array(const float* d_in, float* d_out, int n, int threads) {
    if (n == 0) return;
    const size_t tile_bytes = threads * sizeof(float);
    const int blocks = (blocks_for(n, threads) + 3) / 4;
    reverse_array_kernel<<<blocks, threads, 2 * tile_bytes>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}
