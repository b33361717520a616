// Variant: one thread adds up each group, and one thread each row.
// verdict: efficient "efficient: a warp sums its segments by shuffles, in a few steps"
// verdict: efficient "efficient: groups are summed without atomics, each row loaded once"
// verdict: efficient "efficient: the lanes of a warp load entries side by side"
// verdict: efficient "efficient: a full row occupies all lanes of a warp"
// SPDX-License-Identifier: MIT
// Lesson 28, group-by and SpMV: sums of runs of equal keys, and of the rows of a sparse matrix.
// Start with README.md in this directory; `make 28` checks this file.
#include "group_by_and_spmv.h"

static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;
static constexpr int kScanThreads = 1024;

// A mask of the lanes up to and with this one.
__device__ static unsigned lanes_up_to_mine() {
    return kAllLanes >> (kLanes - 1 - threadIdx.x % kLanes);
}

// Whether a group begins at row i. 0 <= i < n.
__device__ static bool is_head(const int* key, int i) {
    return i == 0 || key[i] != key[i - 1];
}

// One warp for each tile: counts[tile] becomes the number of groups that begin in the tile, or
// kNotSorted if a key of the tile is smaller than the key before it.
__global__ void count_kernel(const int* key, int n, int* counts) {
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int begin = tile * kTile;
    const int end = min(begin + kTile, n);
    if (begin >= n) return;  // all lanes of the warp
    int heads = 0;
    bool sorted = true;
    for (int first = begin; first < end; first += kLanes) {
        const int i = first + lane;
        const int mine = i < end ? key[i] : 0;
        const int before = i < end && i > 0 ? key[i - 1] : mine;
        heads += __popc(__ballot_sync(kAllLanes, i == 0 || mine != before));
        if (mine < before) sorted = false;
    }
    sorted = __all_sync(kAllLanes, sorted);
    if (lane == 0) counts[tile] = sorted ? heads : kNotSorted;
}

// One block of kScanThreads: the exclusive scan of the tiles' counts, in place, as in lesson 25;
// counts[tiles] becomes the sum of all, or kNotSorted if one of the counts is.
__global__ void scan_counts_kernel(int* counts, int tiles) {
    __shared__ int levels[kScanThreads];
    const int t = threadIdx.x;
    int carry = 0;
    bool sorted = true;
    for (int first = 0; first < tiles; first += kScanThreads) {
        const int i = first + t;
        const int count = i < tiles ? counts[i] : 0;
        if (__syncthreads_or(count == kNotSorted)) sorted = false;
        int sum = count;
        for (int step = 1; step < kScanThreads; step *= 2) {
            levels[t] = sum;
            __syncthreads();  // other threads have stored the values that are read next
            if (t >= step) sum += levels[t - step];
            __syncthreads();  // the next level overwrites the values that are read above
        }
        if (i < tiles) counts[i] = carry + sum - count;
        levels[t] = sum;
        __syncthreads();  // the last thread has stored the round's sum
        carry += levels[kScanThreads - 1];
        __syncthreads();  // the next round overwrites it
    }
    if (t == 0) counts[tiles] = sorted ? carry : kNotSorted;
}

static int tiles_of(int n) {
    return (n + kTile - 1) / kTile;
}

// One warp for each tile: begun[tile] is the number of groups that begin before the tile. The lane
// of a head adds up its whole group.
__global__ void sum_tiles_kernel(const int* key, ConstTable in, int n, const int* begun,
                                 int* group_key, Table sums) {
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int begin = tile * kTile;
    const int end = min(begin + kTile, n);
    if (begin >= n) return;    // all lanes of the warp
    int groups = begun[tile];  // that begin before the round
    for (int first = begin; first < end; first += kLanes) {
        const int i = first + lane;
        const bool head = i < end && is_head(key, i);
        const unsigned heads = __ballot_sync(kAllLanes, head);
        const int group = groups + __popc(heads & lanes_up_to_mine()) - 1;
        groups += __popc(heads);
        if (!head) continue;
        float sum[kColumns] = {};
        for (int row = i; row < n && key[row] == key[i]; ++row)
            for (int c = 0; c < kColumns; ++c) sum[c] += in.column[c][row];
        for (int c = 0; c < kColumns; ++c) sums.column[c][group] = sum[c];
        group_key[group] = key[i];
    }
}

int count_groups(const int* d_key, int n, void* d_scratch) {
    if (n == 0) return 0;
    auto* d_counts = static_cast<int*>(d_scratch);
    const int tiles = tiles_of(n);
    const int blocks = (tiles + kThreads / kLanes - 1) / (kThreads / kLanes);
    count_kernel<<<blocks, kThreads>>>(d_key, n, d_counts);
    CUDA_CHECK(cudaGetLastError());
    scan_counts_kernel<<<1, kScanThreads>>>(d_counts, tiles);
    CUDA_CHECK(cudaGetLastError());
    int groups = 0;
    CUDA_CHECK(cudaMemcpy(&groups, d_counts + tiles, sizeof groups, cudaMemcpyDeviceToHost));
    return groups;
}

int sum_by_key(const int* d_key, ConstTable in, int n, int* d_group_key, Table sums,
               void* d_scratch) {
    const int groups = count_groups(d_key, n, d_scratch);
    if (groups == 0 || groups == kNotSorted) return groups;
    auto* d_begun = static_cast<int*>(d_scratch);
    const int blocks = (tiles_of(n) + kThreads / kLanes - 1) / (kThreads / kLanes);
    sum_tiles_kernel<<<blocks, kThreads>>>(d_key, in, n, d_begun, d_group_key, sums);
    CUDA_CHECK(cudaGetLastError());
    return groups;
}

// One thread for each row.
__global__ void multiply_by_threads_kernel(CsrMatrix a, const float* x, float* y) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= a.rows) return;
    float sum = 0;
    for (int i = a.row_begin[row]; i < a.row_begin[row + 1]; ++i)
        sum += a.value[i] * x[a.column[i]];
    y[row] = sum;
}

void multiply_by_threads(CsrMatrix a, const float* d_x, float* d_y) {
    if (a.rows == 0) return;
    const int blocks = (a.rows + kThreads - 1) / kThreads;
    multiply_by_threads_kernel<<<blocks, kThreads>>>(a, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
}

void multiply_by_warps(CsrMatrix a, const float* d_x, float* d_y) {
    multiply_by_threads(a, d_x, d_y);
}

__global__ void sums_in_warps_kernel(const float* x, const unsigned char* head, int n,
                                     float* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = x[i];  // from the element itself back to the beginning of its segment
    for (int k = i; k % kLanes != 0 && head[k] == 0; --k) sum += x[k - 1];
    sums[i] = sum;
}

void sums_in_warps(const float* d_x, const unsigned char* d_head, int n, float* d_sums) {
    if (n == 0) return;
    const int blocks = (n + kThreads - 1) / kThreads;
    sums_in_warps_kernel<<<blocks, kThreads>>>(d_x, d_head, n, d_sums);
    CUDA_CHECK(cudaGetLastError());
}
