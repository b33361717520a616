// Variant: warps vote, and one value of each warp goes through shared memory; three launches.
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
    const unsigned votes = __ballot_sync(kAllLanes, keep);
    const unsigned before = (1u << (threadIdx.x % kLanes)) - 1;
    count = __popc(votes);
    return __popc(votes & before);
}

// Called by all threads of a block of whole warps, at most 32 of them; may be called again and
// again. Returns how many of the threads before this one keep their element; `count` becomes the
// number of all threads that do.
__device__ static int place_in_block(bool keep, int& count) {
    __shared__ int of_warp[kLanes];
    const int warp = threadIdx.x / kLanes;
    const int warps = blockDim.x / kLanes;
    int of_mine;
    int place = place_in_warp(keep, of_mine);
    if (threadIdx.x % kLanes == 0) of_warp[warp] = of_mine;
    __syncthreads();  // below, all threads read the counts of all warps
    count = 0;
    for (int w = 0; w < warps; ++w) {
        if (w == warp) place += count;
        count += of_warp[w];
    }
    __syncthreads();  // the next call overwrites the counts that are read above
    return place;
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

template <class Keep, class Move>
__global__ void move_kernel(Keep keep, Move move, int n, const int* carries, int tiles) {
    const int begin = blockIdx.x * kTile;
    const int end = min(begin + kTile, n);
    const int total = carries[tiles];
    int carry = carries[blockIdx.x];
    for (int first = begin; first < end; first += blockDim.x) {
        const int i = first + threadIdx.x;
        const bool kept = i < end && keep(i);
        int count;
        const int before = carry + place_in_block(kept, count);  // all threads call it
        if (i < end) move(i, kept, before, total);
        carry += count;
    }
}

template <class Keep, class Move>
static int compact(Keep keep, Move move, int n, void* d_scratch) {
    if (n == 0) return 0;
    auto* d_counts = static_cast<int*>(d_scratch);
    const int tiles = (n + kTile - 1) / kTile;
    count_kernel<<<tiles, kThreads>>>(keep, n, d_counts);
    CUDA_CHECK(cudaGetLastError());
    scan_counts_kernel<<<1, kScanThreads>>>(d_counts, tiles);
    CUDA_CHECK(cudaGetLastError());
    move_kernel<<<tiles, kThreads>>>(keep, move, n, d_counts, tiles);
    CUDA_CHECK(cudaGetLastError());
    int total = 0;
    CUDA_CHECK(cudaMemcpy(&total, d_counts + tiles, sizeof total, cudaMemcpyDeviceToHost));
    return total;
}

int select_above(const float* d_x, int n, float limit, float* d_out, void* d_scratch) {
    return compact(KeepAbove{d_x, limit}, MoveKept{d_x, d_out}, n, d_scratch);
}

struct KeepMarked {
    const unsigned char* mask;
    __device__ bool operator()(int i) const { return mask[i] != 0; }
};

struct MoveRow {
    ConstTable in;
    Table out;
    __device__ void operator()(int i, bool kept, int before, int) const {
        if (!kept) return;
        out.energy[before] = in.energy[i];
        out.eta[before] = in.eta[i];
        out.phi[before] = in.phi[i];
        out.charge[before] = in.charge[i];
    }
};

int select_rows(const unsigned char* d_mask, ConstTable in, int n, Table out, void* d_scratch) {
    return compact(KeepMarked{d_mask}, MoveRow{in, out}, n, d_scratch);
}

struct MoveBoth {
    const float* x;
    float* out;
    __device__ void operator()(int i, bool kept, int before, int total) const {
        out[kept ? before : total + (i - before)] = x[i];
    }
};

int partition_above(const float* d_x, int n, float limit, float* d_out, void* d_scratch) {
    return compact(KeepAbove{d_x, limit}, MoveBoth{d_x, d_out}, n, d_scratch);
}

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
