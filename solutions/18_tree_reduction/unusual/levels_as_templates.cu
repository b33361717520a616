// Unusual: Each level of the tree is a function template, and tree_sum calls itself.
// SPDX-License-Identifier: MIT
// Lesson 18, tree reduction: the sum of n numbers in log n steps, without atomics.
// Start with README.md in this directory; `make 18` checks this file.
#include "tree_reduction.h"

// Blocks of kThreads threads for n threads.
static int blocks_for(int n) {
    return (n + kThreads - 1) / kThreads;
}

// One level of the tree, in place. The grid may hold more threads than there are additions.
__global__ void halve_kernel(float* data, int n) {
    const int half = (n + 1) / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - half) data[i] += data[half + i];
}

void halve_on_grid(float* d_data, int n, int blocks, int threads) {
    halve_kernel<<<blocks, threads>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}

void sum_by_halving(float* d_data, int n, float* d_sum) {
    if (n == 0) {
        CUDA_CHECK(cudaMemset(d_sum, 0, sizeof(float)));  // the bytes of 0.0f are all 0
        return;
    }
    while (n > 1) {
        const int half = (n + 1) / 2;
        halve_on_grid(d_data, n, blocks_for(n - half), kThreads);
        n = half;
    }
    CUDA_CHECK(cudaMemcpy(d_sum, d_data, sizeof(float), cudaMemcpyDeviceToDevice));
}

template <int Half>
__device__ void level(float* tile, int t) {
    if (t < Half) tile[t] += tile[t + Half];
    __syncthreads();
    if constexpr (Half > 1) level<Half / 2>(tile, t);
}

// One block of kThreads threads sums kThreads elements, in shared memory.
__global__ void block_sums_kernel(const float* in, float* out, int n) {
    __shared__ float tile[kThreads];
    const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
    tile[t] = i < n ? in[i] : 0;
    __syncthreads();
    level<kThreads / 2>(tile, t);
    if (t == 0) out[blockIdx.x] = tile[0];
}

void block_sums(const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    block_sums_kernel<<<blocks_for(n), kThreads>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
}

void tree_sum(const float* d_in, int n, float* d_scratch, float* d_sum) {
    if (n == 0) {
        CUDA_CHECK(cudaMemset(d_sum, 0, sizeof(float)));
        return;
    }
    const int blocks = blocks_for(n);
    if (blocks == 1) {
        block_sums(d_in, d_sum, n);
        return;
    }
    block_sums(d_in, d_scratch, n);
    tree_sum(d_scratch, blocks, d_scratch + blocks, d_sum);
}
