// SPDX-License-Identifier: MIT
// Lesson 26, compaction: store the elements that pass a test side by side and in order.
// Start with README.md in this directory; `make 26` checks this file.
#include "compaction.h"

[[maybe_unused]] static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;
static constexpr int kScanThreads = 1024;

// Called by all 32 lanes of a warp. Returns how many of the lanes before this one keep their
// element; `count` becomes the number of all lanes that do.
__device__ static int place_in_warp(bool keep, int& count) {
    // TODO 1 (about 4 lines): let all lanes vote. The count is the number of votes. The place is
    // the number of votes of the lanes before this one: __ballot_sync and __popc, as in lesson 17.
    count = keep;
    return threadIdx.x % kLanes;
    // END 1
}

// Called by all threads of a block of whole warps, at most 32 of them; may be called again and
// again. Returns how many of the threads before this one keep their element; `count` becomes the
// number of all threads that do.
__device__ static int place_in_block(bool keep, int& count) {
    // TODO 2 (about 13 lines): the same for a block. A thread's place is its place in the warp plus
    // the counts of the warps before its own. The warps exchange their counts in shared memory. End
    // with a second barrier, since the next call stores to the same place.
    count = keep;
    return threadIdx.x;
    // END 2
}

// A struct such as this one decides which elements are kept ...
struct KeepAbove {
    const float* x;
    float limit;
    __device__ bool operator()(int i) const { return x[i] > limit; }
};

// ... and a struct such as this one moves them. It is called for every element i, and is told
// whether element i is kept, how many elements before it are kept, and how many are kept in all.
struct MoveKept {
    const float* x;
    float* out;
    __device__ void operator()(int i, bool kept, int before, int) const {
        if (kept) out[before] = x[i];
    }
};

// One block for each tile: how many of its elements are kept.
template <class Keep>
__global__ void count_kernel(Keep keep, int n, int* counts) {
    const int begin = blockIdx.x * kTile;
    const int end = min(begin + kTile, n);
    int in_all = 0;
    for (int first = begin; first < end; first += blockDim.x) {
        const int i = first + threadIdx.x;
        in_all += __syncthreads_count(i < end && keep(i));  // how many threads keep their element
    }
    if (threadIdx.x == 0) counts[blockIdx.x] = in_all;
}

// One block of kScanThreads: the exclusive scan of the tiles' counts, in place, as in lesson 25;
// counts[tiles] becomes the sum of all.
__global__ void scan_counts_kernel(int* counts, int tiles) {
    __shared__ int levels[kScanThreads];
    const int t = threadIdx.x;
    int carry = 0;
    for (int first = 0; first < tiles; first += kScanThreads) {
        const int i = first + t;
        const int count = i < tiles ? counts[i] : 0;
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
    if (t == 0) counts[tiles] = carry;
}

// TODO 3 (about 30 lines): `move_kernel`, one block for each tile, goes through its tile in rounds,
// as count_kernel does, and calls move(i, kept, before, total) for each element. carries[tile] is
// the number of kept elements before the tile, and the last one is the number of all. `compact`
// makes three launches: count, scan, move. It waits for the device and returns the number of kept
// elements. For n = 0 it launches nothing.
template <class Keep, class Move>
static int compact(Keep, Move, int, void*) {
    return -1;
}
// END 3

int select_above(const float* d_x, int n, float limit, float* d_out, void* d_scratch) {
    return compact(KeepAbove{d_x, limit}, MoveKept{d_x, d_out}, n, d_scratch);
}

// TODO 4 (about 18 lines): describe which rows of a table are kept, and move them. Load only rows
// that are kept.
int select_rows(const unsigned char*, ConstTable, int, Table, void*) {
    return -1;
}
// END 4

// TODO 5 (about 9 lines): describe where a partition stores each element. Of the elements before
// element i, `before` are kept. How many are not?
int partition_above(const float*, int, float, float*, void*) {
    return -1;
}
// END 5

__global__ void select_in_warps_kernel(KeepAbove keep, const float* x, int n, float* out,
                                       int* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = i / kLanes * kLanes;  // of this warp
    const bool kept = i < n && keep(i);
    int count;
    const int place = place_in_warp(kept, count);  // all lanes call it
    if (kept) out[first + place] = x[i];
    if (i == first && i < n) counts[i / kLanes] = count;
}

void select_in_warps(const float* d_x, int n, float limit, float* d_out, int* d_counts) {
    if (n == 0) return;
    const int blocks = (n + kThreads - 1) / kThreads;
    select_in_warps_kernel<<<blocks, kThreads>>>(KeepAbove{d_x, limit}, d_x, n, d_out, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void select_in_blocks_kernel(KeepAbove keep, const float* x, int n, float* out,
                                        int* counts) {
    const int first = blockIdx.x * blockDim.x;
    const int i = first + threadIdx.x;
    const bool kept = i < n && keep(i);
    int count;
    const int place = place_in_block(kept, count);  // all threads call it
    if (kept) out[first + place] = x[i];
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

void select_in_blocks(const float* d_x, int n, float limit, float* d_out, int* d_counts,
                      int threads) {
    if (n == 0) return;
    const int blocks = (n + threads - 1) / threads;
    select_in_blocks_kernel<<<blocks, threads>>>(KeepAbove{d_x, limit}, d_x, n, d_out, d_counts);
    CUDA_CHECK(cudaGetLastError());
}
