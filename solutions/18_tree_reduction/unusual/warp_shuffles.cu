// Unusual: Warps sum in registers with shuffles, the tile holds one number for each warp (lesson
// 19).
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
    int left = n;
    while (left > 1) {
        const int half = (left + 1) / 2;
        halve_on_grid(d_data, left, blocks_for(left - half), kThreads);
        left = half;
    }
    CUDA_CHECK(cudaMemcpy(d_sum, d_data, sizeof(float), cudaMemcpyDeviceToDevice));
}

// One block of kThreads threads sums kThreads elements, in shared memory.
__global__ void block_sums_kernel(const float* in, float* out, int n) {
    __shared__ float tile[kThreads / 32];
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    float sum = i < n ? in[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (t % 32 == 0) tile[t / 32] = sum;
    __syncthreads();  // the first warp reads what the others have stored
    if (t >= 32) return;
    sum = t < kThreads / 32 ? tile[t] : 0.0f;
    for (int step = kThreads / 64; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (t == 0) out[blockIdx.x] = sum;
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
    float* to = d_scratch;
    while (n > kThreads) {
        block_sums(d_in, to, n);
        n = blocks_for(n);
        d_in = to;  // the next pass sums these sums,
        to += n;    // and stores after them: blocks run in any order
    }
    block_sums(d_in, d_sum, n);
}
