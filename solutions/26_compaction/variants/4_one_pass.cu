// Variant: one launch: tiles publish their counts for each other, as in lesson 25, and a warp looks
// back at 32 of them at once.
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

// The functions below select floats: each launch loads a tile once, 16 bytes at a time. Its kept
// elements are collected in shared memory, so that stores are whole sectors.
static constexpr int kVectors = kTile / kThreads / 4;  // of each thread
static constexpr int kWarps = kThreads / kLanes;

// Element 4 * lane + k of row r of a warp's part of the tile is v[r][k] of this lane; elements past
// the end do not pass.
template <bool kAligned>
__device__ void load_tile(const float* x, int n, float limit, int tile, float (&v)[kVectors][4]) {
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const int first = tile * kTile + (warp * kVectors * kLanes + lane) * 4;
    const auto four = [&](int r) {
        const float4 v4 = *reinterpret_cast<const float4*>(x + first + r * kLanes * 4);
        v[r][0] = v4.x, v[r][1] = v4.y, v[r][2] = v4.z, v[r][3] = v4.w;
    };
    if (kAligned &&
        (tile + 1) * kTile <= n) {  // tested once, so that all loads are in flight together
#pragma unroll
        for (int r = 0; r < kVectors; ++r) four(r);
        return;
    }
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
        const int i = first + r * kLanes * 4;
        if (kAligned && i + 4 <= n) {
            four(r);
        } else {
#pragma unroll
            for (int k = 0; k < 4; ++k) v[r][k] = i + k < n ? x[i + k] : limit;
        }
    }
}

// Called by all threads of a block, once in a kernel. Stores the kept elements of the tile to
// `staged`, and returns their number; `staged` is complete after the next barrier.
__device__ static int stage(const float (&v)[kVectors][4], float limit, float (&staged)[kTile]) {
    __shared__ int of_warp[kWarps];
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    // A vote for each element of the four: 128 elements of a row.
    unsigned votes[kVectors][4];
    int mine = 0;
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            votes[r][k] = __ballot_sync(kAllLanes, v[r][k] > limit);
            mine += __popc(votes[r][k]);
        }
    }
    if (lane == 0) of_warp[warp] = mine;
    __syncthreads();  // below, all threads read the counts of all warps
    int place = 0, count = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) place = count;
        count += of_warp[w];
    }
    const unsigned before = (1u << lane) - 1;
#pragma unroll
    for (int r = 0; r < kVectors; ++r) {
        int to = place;  // kept elements of lower lanes come first
#pragma unroll
        for (int k = 0; k < 4; ++k) to += __popc(votes[r][k] & before);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (v[r][k] > limit) staged[to++] = v[r][k];
            place += __popc(votes[r][k]);
        }
    }
    return count;
}

__device__ static void store_staged(const float (&staged)[kTile], int count, float* out) {
    for (int p = threadIdx.x; p < count; p += kThreads) out[p] = staged[p];
}

// What a tile has published for the other tiles, one word of 64 bits (lesson 25): the status in the
// upper half, the value in the lower half.
using TileState = unsigned long long;
enum Status : unsigned { kNothing = 0, kTotal = 1, kPrefix = 2 };

__device__ static void publish(TileState* states, int tile, Status status, int value) {
    const_cast<volatile TileState*>(states)[tile] =
        static_cast<TileState>(status) << 32 | static_cast<unsigned>(value);
}
__device__ static TileState look_at(const TileState* states, int tile) {
    return const_cast<const volatile TileState*>(states)[tile];
}
__device__ static Status status_in(TileState state) {
    return static_cast<Status>(state >> 32);
}

// Called by all 32 lanes of a warp of a tile. Publishes the tile's count, finds out how many
// elements the tiles before it keep, publishes the tile's prefix, and returns that number.
__device__ static int exchange(TileState* states, int tile, int count) {
    const int lane = threadIdx.x % kLanes;
    if (lane == 0) publish(states, tile, tile > 0 ? kTotal : kPrefix, count);
    if (tile == 0) return 0;
    int carry = 0;
    for (int nearest = tile - 1;; nearest -= kLanes) {
        const int mine = nearest - lane;
        TileState state;
        unsigned prefixes;
        do {  // until all states down to the nearest prefix are published
            // Before tile 0 there is nothing to add.
            state = mine >= 0 ? look_at(states, mine) : static_cast<TileState>(kPrefix) << 32;
            const unsigned nothing = __ballot_sync(kAllLanes, status_in(state) == kNothing);
            prefixes = __ballot_sync(kAllLanes, status_in(state) == kPrefix);
            const unsigned nearer = prefixes != 0 ? (prefixes & -prefixes) - 1 : kAllLanes;
            if ((nothing & nearer) == 0) break;
        } while (true);
        const int last = prefixes != 0 ? __ffs(prefixes) - 1 : kLanes - 1;
        int sum = lane <= last ? static_cast<int>(static_cast<unsigned>(state)) : 0;
        for (int step = kLanes / 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(kAllLanes, sum, step);
        carry += sum;
        if (prefixes != 0) break;
    }
    if (lane == 0) publish(states, tile, kPrefix, carry + count);
    return carry;
}

// One block for each tile, whose number comes from a counter. The last tile's prefix is the number
// of all kept elements.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads)
    one_pass_kernel(const float* x, int n, float limit, float* out, TileState* states,
                    unsigned* next_tile) {
    __shared__ float staged[kTile];
    __shared__ int shared_tile, shared_carry;
    if (threadIdx.x == 0) shared_tile = atomicAdd(next_tile, 1u);
    __syncthreads();  // all threads read the number
    const int tile = shared_tile;
    float v[kVectors][4];
    load_tile<kAligned>(x, n, limit, tile, v);
    const int count = stage(v, limit, staged);
    if (threadIdx.x < kLanes) {
        const int carry = exchange(states, tile, count);
        if (threadIdx.x == 0) shared_carry = carry;
    }
    __syncthreads();  // all threads store elements that others have staged, and read the carry
    store_staged(staged, count, out + shared_carry);
}

int select_above(const float* d_x, int n, float limit, float* d_out, void* d_scratch) {
    if (n == 0) return 0;
    const int tiles = (n + kTile - 1) / kTile;
    auto* d_states = static_cast<TileState*>(d_scratch);
    auto* d_next_tile = reinterpret_cast<unsigned*>(d_states + tiles);
    CUDA_CHECK(cudaMemsetAsync(d_scratch, 0, (tiles + 1) * sizeof(TileState)));
    const bool aligned = reinterpret_cast<size_t>(d_x) % sizeof(float4) == 0;
    const auto kernel = aligned ? one_pass_kernel<true> : one_pass_kernel<false>;
    kernel<<<tiles, kThreads>>>(d_x, n, limit, d_out, d_states, d_next_tile);
    CUDA_CHECK(cudaGetLastError());
    TileState last = 0;
    CUDA_CHECK(cudaMemcpy(&last, d_states + tiles - 1, sizeof last, cudaMemcpyDeviceToHost));
    return static_cast<int>(static_cast<unsigned>(last));
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
