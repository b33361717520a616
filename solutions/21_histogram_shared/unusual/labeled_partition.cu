// Unusual: The lanes with one key are a group of their own; whole warps go on as long as one lane
// has a key.
// SPDX-License-Identifier: MIT
// Lesson 21, histograms in shared memory: blocks count in bins of their own and merge them once.
// Start with README.md in this directory; `make 21` checks this file.
#include "histogram_shared.h"

#include <algorithm>
#include <cooperative_groups.h>

__device__ void clear_bins(unsigned* own, int bins) {
    for (int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
    __syncthreads();  // a thread counts in bins that others have cleared
}

__device__ void merge_bins(const unsigned* own, int bins, unsigned* counts) {
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        if (own[b] != 0) atomicAdd(&counts[b], own[b]);
}

__global__ void count_kernel(const int* keys, int n, int bins, unsigned* counts) {
    extern __shared__ unsigned own[];
    clear_bins(own, bins);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int key = keys[i];
        if (key >= 0 && key < bins) atomicAdd(&own[key], 1u);
    }
    merge_bins(own, bins, counts);
}

void count_in_blocks(const int* d_keys, int n, int bins, unsigned* d_counts, int blocks,
                     int threads) {
    if (n == 0) return;
    count_kernel<<<blocks, threads, bins * sizeof(unsigned)>>>(d_keys, n, bins, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

// Lesson 20's way, one thread for each element: for bins that do not fit into shared memory.
__global__ void count_in_global_kernel(const int* keys, int n, int bins, unsigned* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int key = keys[i];
    if (key >= 0 && key < bins) atomicAdd(&counts[key], 1u);
}

[[maybe_unused]] static void count_in_global(const int* d_keys, int n, int bins,
                                             unsigned* d_counts) {
    if (n == 0) return;
    const int blocks = (n + kThreads - 1) / kThreads;
    count_in_global_kernel<<<blocks, kThreads>>>(d_keys, n, bins, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

static int blocks_that_pay(int n, int bins) {
    return std::clamp(n / (kShare * std::max(bins, kThreads)), 1, kMaxBlocks);
}

void histogram(const int* d_keys, int n, int bins, unsigned* d_counts) {
    if (bins <= kMaxPrivateBins)
        count_in_blocks(d_keys, n, bins, d_counts, blocks_that_pay(n, bins), kThreads);
    else
        count_in_global(d_keys, n, bins, d_counts);
}

__global__ void count_skewed_kernel(const int* keys, int n, int bins, unsigned* counts) {
    extern __shared__ unsigned own[];
    clear_bins(own, bins);
    [[maybe_unused]] const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(0xFFFFFFFFu, i < n); i += step) {
        const int key = i < n ? keys[i] : -1;
        auto warp =
            cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
        auto mates = cooperative_groups::labeled_partition(warp, key);
        if (key >= 0 && key < bins && mates.thread_rank() == 0) atomicAdd(&own[key], mates.size());
    }
    merge_bins(own, bins, counts);
}

void histogram_skewed(const int* d_keys, int n, int bins, unsigned* d_counts) {
    if (n == 0) return;
    const int blocks = blocks_that_pay(n, bins);
    count_skewed_kernel<<<blocks, kThreads, bins * sizeof(unsigned)>>>(d_keys, n, bins, d_counts);
    CUDA_CHECK(cudaGetLastError());
}
