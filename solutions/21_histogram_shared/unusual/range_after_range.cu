// Unusual: Bins that do not fit are counted range by range in shared memory, with one pass over the
// keys for each; more shared memory is asked for.
// SPDX-License-Identifier: MIT
// Lesson 21, histograms in shared memory: blocks count in bins of their own and merge them once.
// Start with README.md in this directory; `make 21` checks this file.
#include "histogram_shared.h"

#include <algorithm>

__device__ void clear_bins(unsigned* own, int bins) {
    for (int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
    __syncthreads();  // a thread counts in bins that others have cleared
}

__device__ void merge_bins(const unsigned* own, int bins, unsigned* counts) {
    __syncthreads();  // a thread merges bins in which others have counted
    for (int b = threadIdx.x; b < bins; b += blockDim.x) {
        if (own[b] != 0) atomicAdd(&counts[b], own[b]);
    }
}

__global__ void count_kernel(const int* keys, int n, int first_bin, int bins, unsigned* counts) {
    extern __shared__ unsigned own[];
    clear_bins(own, bins);
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const long long key = static_cast<long long>(keys[i]) - first_bin;
        if (key >= 0 && key < bins) atomicAdd(&own[key], 1u);
    }
    merge_bins(own, bins, counts + first_bin);
}

void count_in_blocks(const int* d_keys, int n, int bins, unsigned* d_counts, int blocks,
                     int threads) {
    if (n == 0) return;
    count_kernel<<<blocks, threads, bins * sizeof(unsigned)>>>(d_keys, n, 0, bins, d_counts);
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
    if (n == 0) return;
    constexpr int kRange = 16 * 1024;  // counters: 64 kB, which a kernel must be allowed to have
    CUDA_CHECK(cudaFuncSetAttribute(
        count_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRange * sizeof(unsigned)));
    for (int first = 0; first < bins; first += kRange) {
        const int some = std::min(kRange, bins - first);
        count_kernel<<<blocks_that_pay(n, some), kThreads, some * sizeof(unsigned)>>>(
            d_keys, n, first, some, d_counts);
        CUDA_CHECK(cudaGetLastError());
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
