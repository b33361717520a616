// Variant: the lanes of a warp share 1024 rows of a table, or a row of a matrix.
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

// Called by all 32 lanes of a warp. Bit l of `heads` is set if a segment begins at lane l; at lane
// 0 a segment always begins. Returns the sum of the values from the beginning of this lane's
// segment up to and with this lane.
__device__ static float sum_in_warp(float value, unsigned heads) {
    const int lane = threadIdx.x % kLanes;
    const unsigned before = heads & lanes_up_to_mine();
    const int begin = before != 0 ? kLanes - 1 - __clz(before) : 0;
    for (int step = 1; step < kLanes; step *= 2) {
        const float below = __shfl_up_sync(kAllLanes, value, step);
        if (lane - step >= begin) value += below;
    }
    return value;
}

// Whether a group begins at row i, and whether one ends there. 0 <= i < n.
__device__ static bool is_head(const int* key, int i) {
    return i == 0 || key[i] != key[i - 1];
}
__device__ static bool is_last(const int* key, int i, int n) {
    return i + 1 == n || key[i] != key[i + 1];
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

// The open sums of a tile: the sums over its rows of the group that continues after the tile.
struct Open {
    float sum[kColumns];
};

// The layout of the scratch memory: for each tile the number of groups that begin before it, then
// the number of all groups, then the open sums of the tiles.
static int tiles_of(int n) {
    return (n + kTile - 1) / kTile;
}
static Open* open_in(void* d_scratch, int n) {
    return static_cast<Open*>(d_scratch) + tiles_of(n) / 4 + 1;
}

// One warp for each tile: begun[tile] is the number of groups that begin before the tile.
__global__ void sum_tiles_kernel(const int* key, ConstTable in, int n, const int* begun,
                                 int* group_key, Table sums, Open* open) {
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int begin = tile * kTile;
    const int end = min(begin + kTile, n);
    if (begin >= n) return;    // all lanes of the warp
    int groups = begun[tile];  // that begin before the round
    Open carry = {};
    for (int first = begin; first < end; first += kLanes) {
        const int i = first + lane;
        const bool head = i < end && is_head(key, i);
        const bool last = i < end && is_last(key, i, n);
        const unsigned heads = __ballot_sync(kAllLanes, head);
        const unsigned before = heads & lanes_up_to_mine();
        const int group = groups + __popc(before) - 1;
        if (head) group_key[group] = key[i];
        for (int c = 0; c < kColumns; ++c) {
            float sum = sum_in_warp(i < end ? in.column[c][i] : 0.0f, heads);
            if (before == 0) sum += carry.sum[c];
            if (last) sums.column[c][group] = sum;
            carry.sum[c] = __shfl_sync(kAllLanes, sum, kLanes - 1);
        }
        groups += __popc(heads);
    }
    if (lane == 0) open[tile] = carry;
}

// One warp for each tile. If a group from an earlier tile ends in this tile, the open sums of the
// earlier tiles are added to the sums of the group.
__global__ void add_open_kernel(const int* key, int n, const int* begun, Table sums,
                                const Open* open) {
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    const int begin = tile * kTile;
    const int end = min(begin + kTile, n);
    if (tile == 0 || begin >= n) return;  // all lanes of the warp
    if (is_head(key, begin)) return;
    if (begun[tile] == begun[tile + 1] && !is_last(key, end - 1, n)) return;
    Open sum = {};
    for (int nearest = tile - 1;; nearest -= kLanes) {
        const int t = nearest - lane;
        const unsigned begins = __ballot_sync(kAllLanes, t >= 0 && begun[t] < begun[t + 1]);
        const int oldest = begins != 0 ? __ffs(begins) - 1 : kLanes - 1;
        if (lane <= oldest)
            for (int c = 0; c < kColumns; ++c) sum.sum[c] += open[t].sum[c];
        if (begins != 0) break;  // at the latest in tile 0, where the first group begins
    }
    for (int c = 0; c < kColumns; ++c) {
        for (int step = kLanes / 2; step > 0; step /= 2)
            sum.sum[c] += __shfl_xor_sync(kAllLanes, sum.sum[c], step);
        if (lane == 0) sums.column[c][begun[tile] - 1] += sum.sum[c];
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
    Open* d_open = open_in(d_scratch, n);
    const int blocks = (tiles_of(n) + kThreads / kLanes - 1) / (kThreads / kLanes);
    sum_tiles_kernel<<<blocks, kThreads>>>(d_key, in, n, d_begun, d_group_key, sums, d_open);
    CUDA_CHECK(cudaGetLastError());
    add_open_kernel<<<blocks, kThreads>>>(d_key, n, d_begun, sums, d_open);
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

// One warp for each row.
__global__ void multiply_by_warps_kernel(CsrMatrix a, const float* x, float* y) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    if (row >= a.rows) return;  // all lanes of the warp
    const int begin = a.row_begin[row];
    const int entries = a.row_begin[row + 1] - begin;
    float sum = 0;
    for (int k = lane; k < entries; k += kLanes) sum += a.value[begin + k] * x[a.column[begin + k]];
    for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
    if (lane == 0) y[row] = sum;
}

void multiply_by_warps(CsrMatrix a, const float* d_x, float* d_y) {
    if (a.rows == 0) return;
    const int rows_of_block = kThreads / kLanes;
    const int blocks = (a.rows + rows_of_block - 1) / rows_of_block;
    multiply_by_warps_kernel<<<blocks, kThreads>>>(a, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void sums_in_warps_kernel(const float* x, const unsigned char* head, int n,
                                     float* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned heads = __ballot_sync(kAllLanes, i < n && head[i] != 0);
    const float sum = sum_in_warp(i < n ? x[i] : 0.0f, heads);  // all lanes call it
    if (i < n) sums[i] = sum;
}

void sums_in_warps(const float* d_x, const unsigned char* d_head, int n, float* d_sums) {
    if (n == 0) return;
    const int blocks = (n + kThreads - 1) / kThreads;
    sums_in_warps_kernel<<<blocks, kThreads>>>(d_x, d_head, n, d_sums);
    CUDA_CHECK(cudaGetLastError());
}
