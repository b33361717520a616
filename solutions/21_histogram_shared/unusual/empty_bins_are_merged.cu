// Unusual: Bins that hold nothing are merged as well; keys are compared without a sign, and atomics
// of the block count them.
// SPDX-License-Identifier: MIT
// Lesson 21, histograms in shared memory: blocks count in bins of their own and merge them once.
// Start with README.md in this directory; `make 21` checks this file.
#include "histogram_shared.h"

#include <algorithm>

__device__ void clear_bins(unsigned* own, int bins) {
    unsigned t = threadIdx.x;
    while (t < unsigned(bins)) {
        own[t] = 0u;
        t += blockDim.x;
    }
    __syncthreads();
}

__device__ void merge_bins(const unsigned* own, int bins, unsigned* counts) {
    __syncthreads();
    for (int b = int(threadIdx.x); b < bins; b += int(blockDim.x)) atomicAdd(counts + b, own[b]);
}
__global__ void count_kernel(const int* __restrict__ keys, int n, int bins, unsigned* counts) {
    extern __shared__ unsigned own[];
    clear_bins(own, bins);
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < size_t(n);
         i += size_t(gridDim.x) * blockDim.x) {
        const unsigned key = keys[i];
        if (key < unsigned(bins)) atomicAdd_block(own + key, 1u);
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
        const unsigned same = __match_any_sync(0xFFFFFFFFu, key);
        const int leader = __ffs(same) - 1;  // __ffs counts bits from 1
        if (key >= 0 && key < bins && static_cast<int>(threadIdx.x) % warpSize == leader) {
            atomicAdd(&own[key], static_cast<unsigned>(__popc(same)));
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
