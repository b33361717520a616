// Unusual: The lanes of a warp find equal keys with votes, key by key; blocks of cooperative
// groups.
// SPDX-License-Identifier: MIT
// Lesson 21, histograms in shared memory: blocks count in bins of their own and merge them once.
// Start with README.md in this directory; `make 21` checks this file.
#include "histogram_shared.h"

#include <algorithm>

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ void clear_bins(unsigned* own, int bins) {
    for (int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
    cg::this_thread_block().sync();
}

__device__ void merge_bins(const unsigned* own, int bins, unsigned* counts) {
    cg::this_thread_block().sync();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) {
        if (own[b] != 0) atomicAdd(&counts[b], own[b]);
    }
}

__global__ void count_kernel(const int* keys, int n, int bins, unsigned* counts) {
    extern __shared__ unsigned own[];
    clear_bins(own, bins);
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
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
    const int keys = kShare * std::max(bins, kThreads);  // for each block
    return std::clamp(n / keys, 1, kMaxBlocks);
}

void histogram(const int* d_keys, int n, int bins, unsigned* d_counts) {
    if (bins <= kMaxPrivateBins) {
        count_in_blocks(d_keys, n, bins, d_counts, blocks_that_pay(n, bins), kThreads);
    } else {
        count_in_global(d_keys, n, bins, d_counts);
    }
}

__global__ void count_skewed_kernel(const int* keys, int n, int bins, unsigned* counts) {
    extern __shared__ unsigned own[];
    clear_bins(own, bins);
    [[maybe_unused]] const int step = gridDim.x * blockDim.x;
    for (int first = blockIdx.x * blockDim.x; first < n; first += step) {
        const int i = first + threadIdx.x;
        const int key = i < n ? keys[i] : -1;
        const unsigned lane = threadIdx.x % warpSize;
        unsigned left = 0xFFFFFFFFu;  // lanes whose key has not been looked at
        while (left != 0) {
            const int leader = __ffs(left) - 1;
            const int leaders_key = __shfl_sync(0xFFFFFFFFu, key, leader);
            const unsigned same = __ballot_sync(0xFFFFFFFFu, key == leaders_key);
            if (lane == static_cast<unsigned>(leader) && key >= 0 && key < bins) {
                atomicAdd(own + key, static_cast<unsigned>(__popc(same)));
            }
            left &= ~same;
        }
    }
    merge_bins(own, bins, counts);
}

void histogram_skewed(const int* d_keys, int n, int bins, unsigned* d_counts) {
    if (n == 0) return;
    const int blocks = blocks_that_pay(n, bins);
    count_skewed_kernel<<<blocks, kThreads, bins * sizeof(unsigned)>>>(d_keys, n, bins, d_counts);
    CUDA_CHECK(cudaGetLastError());
}
