// Variant: blocks of 1024 threads share one set of bins; 16 bytes for each load, two under way.
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

// As many threads as a block may have share one set of bins: two blocks fill a multiprocessor, and
// a quarter of the bins is cleared and merged that blocks of 256 threads would have.
static constexpr int kManyThreads = 1024;
static constexpr int kBlocksEach = 2;  // blocks on each multiprocessor

// On any grid, with `bins` counters of dynamic shared memory. `keys` starts at a multiple of 16
// bytes. A warp needs many loads under way to hide the memory's latency; private bins alone leave
// it waiting after each key.
__global__ void __launch_bounds__(kManyThreads)
    count_wide_kernel(const int* keys, int n, int bins, unsigned* counts) {
    extern __shared__ unsigned own[];
    clear_bins(own, bins);
    const auto count = [&](int key) {
        if (key >= 0 && key < bins) atomicAdd(&own[key], 1u);
    };
    const auto count_all = [&](int4 v) {
        count(v.x);
        count(v.y);
        count(v.z);
        count(v.w);
    };
    const auto* vectors = reinterpret_cast<const int4*>(keys);
    const int last = n / 4, step = gridDim.x * blockDim.x;
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    int i = me;
    for (; i < last - step; i += 2 * step) {
        const int4 first = vectors[i], second = vectors[i + step];
        count_all(first);
        count_all(second);
    }
    if (i < last) count_all(vectors[i]);
    if (me < n % 4) count(keys[4 * last + me]);
    merge_bins(own, bins, counts);
}

// Enough blocks to fill the card, if each of them has enough keys to pay.
static void count_wide(const int* d_keys, int n, int bins, unsigned* d_counts) {
    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    // For each block: kShare keys for each bin, and a vector for each thread.
    const int keys = std::max(kShare * bins, 4 * kManyThreads);
    const int blocks = std::clamp(n / keys, 1, kBlocksEach * multiprocessors);
    count_wide_kernel<<<blocks, kManyThreads, bins * sizeof(unsigned)>>>(d_keys, n, bins, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

void histogram(const int* d_keys, int n, int bins, unsigned* d_counts) {
    const bool aligned = reinterpret_cast<size_t>(d_keys) % sizeof(int4) == 0;
    if (bins <= kMaxPrivateBins && aligned && n > 0) {
        count_wide(d_keys, n, bins, d_counts);
    } else if (bins <= kMaxPrivateBins) {
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
