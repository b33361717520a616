// Variant: the same additions by the first threads of the block. Whole warps work or rest, but
// their lanes are 2, 4, 8, ... slots apart and meet in the same banks.
// verdict: efficient "efficient: the threads that add sit side by side"
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
    // TODO 1 (about 3 lines): add element half + i to element i, where half is n / 2 rounded up.
    // With an odd n the last element of the lower half has no partner: it stays as it is.
    const int half = (n + 1) / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - half) data[i] += data[half + i];
    // END 1
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
    // TODO 2 (about 5 lines): halve, level by level, until one element is left. Each level has
    // about half as many additions as the one before: launch blocks_for that many.
    int left = n;
    while (left > 1) {
        const int half = (left + 1) / 2;
        halve_on_grid(d_data, left, blocks_for(left - half), kThreads);
        left = half;
    }
    // END 2
    CUDA_CHECK(cudaMemcpy(d_sum, d_data, sizeof(float), cudaMemcpyDeviceToDevice));
}

// One block of kThreads threads sums kThreads elements, in shared memory.
__global__ void block_sums_kernel(const float* in, float* out, int n) {
    __shared__ float tile[kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    tile[t] = i < n ? in[i] : 0.0f;
    for (int step = 1; step < kThreads; step *= 2) {
        const int at = 2 * step * t;
        __syncthreads();  // the slots that are read next were written by other threads
        if (at < kThreads) tile[at] += tile[at + step];
    }
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
    // TODO 4 (about 7 lines): one pass makes n numbers into blocks_for(n) sums. Sum the sums, and
    // so on, until one block is enough: that one stores to d_sum.
    float* to = d_scratch;
    while (n > kThreads) {
        block_sums(d_in, to, n);
        n = blocks_for(n);
        d_in = to;  // the next pass sums these sums,
        to += n;    // and stores after them: blocks run in any order
    }
    block_sums(d_in, d_sum, n);
    // END 4
}
