// Variant: warps scan by shuffles; three launches read the array twice and write it once, the one
// pass reads it once.
// SPDX-License-Identifier: MIT
// Lesson 25, scan: scans of a warp, of a block, and of an array in three launches and in one.
// Start with README.md in this directory; `make 25` checks this file.
#include "scan.h"

#include <climits>

[[maybe_unused]] static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;
[[maybe_unused]] static constexpr int kMaxBlockThreads = 1024;

// A struct such as these describes an operation. `combine` may be called with any two neighbouring
// pieces, but never in the wrong order: the elements of `a` come before the elements of `b`.
struct Sum {
    using Value = int;
    __device__ static Value identity() { return 0; }
    __device__ static Value combine(Value a, Value b) { return a + b; }
};

struct Fill {
    using Value = int;
    __device__ static Value identity() { return 0; }
    __device__ static Value combine(Value a, Value b) { return b != 0 ? b : a; }
};

// Called by all 32 lanes of a warp. Returns the combination of the values of the lanes from 0 up to
// and with this one.
template <class Op>
__device__ typename Op::Value warp_scan(typename Op::Value value) {
    const int lane = threadIdx.x % kLanes;
    for (int step = 1; step < kLanes; step *= 2) {
        const auto before = __shfl_up_sync(kAllLanes, value, step);
        if (lane >= step) value = Op::combine(before, value);
    }
    return value;
}

// Called by all threads of a block of whole warps, at most 32 of them; may be called again and
// again. Each thread gets the combination of the values of all threads before it (thread 0: the
// identity), and `total` becomes the combination of all of them.
template <class Op>
__device__ typename Op::Value block_scan(typename Op::Value value, typename Op::Value& total) {
    __shared__ typename Op::Value of_warp[kLanes];
    const int lane = threadIdx.x % kLanes;
    const int warp = threadIdx.x / kLanes;
    const int warps = blockDim.x / kLanes;
    const auto inclusive = warp_scan<Op>(value);
    if (lane == kLanes - 1) of_warp[warp] = inclusive;
    __syncthreads();  // below, every warp reads the totals of all warps
    const auto up_to = warp_scan<Op>(lane < warps ? of_warp[lane] : Op::identity());
    __syncthreads();  // the next call overwrites the totals that are read above
    total = __shfl_sync(kAllLanes, up_to, warps - 1);
    const auto of_others = __shfl_sync(kAllLanes, up_to, warp > 0 ? warp - 1 : 0);
    const auto of_lanes = __shfl_up_sync(kAllLanes, inclusive, 1);
    const auto before_warp = warp > 0 ? of_others : Op::identity();
    return lane > 0 ? Op::combine(before_warp, of_lanes) : before_warp;
}

// Called by all threads of a block. Scans the elements [begin, end) of `in`. `carry` is the
// combination of all elements before `begin`. Returns the carry for the elements after `end`. If
// `out` is nullptr, nothing is stored. `out` may be `in`.
template <class Op, class In>
__device__ typename Op::Value scan_piece(Kind kind, const In* in, typename Op::Value* out,
                                         int begin, int end, typename Op::Value carry) {
    for (int first = begin; first < end; first += blockDim.x) {
        const int i = first + threadIdx.x;
        const auto value = i < end ? static_cast<typename Op::Value>(in[i]) : Op::identity();
        typename Op::Value total;
        const auto before = Op::combine(carry, block_scan<Op>(value, total));
        if (out && i < end) out[i] = kind == Kind::kInclusive ? Op::combine(before, value) : before;
        carry = Op::combine(carry, total);
    }
    return carry;
}

// One block for each row.
template <class Op>
__global__ void scan_rows_kernel(Kind kind, const typename Op::Value* in, typename Op::Value* out,
                                 int cols) {
    const size_t row = static_cast<size_t>(blockIdx.x) * cols;
    scan_piece<Op>(kind, in + row, out + row, 0, cols, Op::identity());
}

// One block for each tile: totals[tile] becomes the combination of the tile's elements.
template <class Op, class In>
__global__ void tile_totals_kernel(const In* in, int n, typename Op::Value* totals) {
    const int begin = blockIdx.x * kTile;
    const int end = min(begin + kTile, n);
    const auto total = scan_piece<Op>(Kind::kInclusive, in, nullptr, begin, end, Op::identity());
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

template <class Op, class In>
__global__ void scan_tiles_kernel(Kind kind, const In* in, typename Op::Value* out, int n,
                                  const typename Op::Value* carries) {
    const int begin = blockIdx.x * kTile;
    const int end = min(begin + kTile, n);
    scan_piece<Op>(kind, in, out, begin, end, carries[blockIdx.x]);
}

template <class Op, class In>
static void scan_all(Kind kind, const In* d_in, typename Op::Value* d_out, int n, void* d_scratch) {
    if (n == 0) return;
    auto* d_totals = static_cast<typename Op::Value*>(d_scratch);
    const int tiles = (n + kTile - 1) / kTile;
    tile_totals_kernel<Op><<<tiles, kThreads>>>(d_in, n, d_totals);
    CUDA_CHECK(cudaGetLastError());
    scan_rows_kernel<Op><<<1, kMaxBlockThreads>>>(Kind::kExclusive, d_totals, d_totals, tiles);
    CUDA_CHECK(cudaGetLastError());
    scan_tiles_kernel<Op><<<tiles, kThreads>>>(kind, d_in, d_out, n, d_totals);
    CUDA_CHECK(cudaGetLastError());
}

struct Max {
    using Value = int;
    __device__ static Value identity() { return INT_MIN; }
    __device__ static Value combine(Value a, Value b) { return a > b ? a : b; }
};

struct LongSum {
    using Value = long long;
    __device__ static Value identity() { return 0; }
    __device__ static Value combine(Value a, Value b) { return a + b; }
};

void offsets(const int* d_counts, long long* d_offsets, int n, void* d_scratch) {
    CUDA_CHECK(cudaMemsetAsync(d_offsets, 0, sizeof(long long)));
    scan_all<LongSum>(Kind::kInclusive, d_counts, d_offsets + 1, n, d_scratch);
}

// Calls work(Sum{}), work(Max{}) or work(Fill{}).
template <class Work>
static void with_operation(Operation op, const Work& work) {
    if (op == Operation::kSum) work(Sum{});
    if (op == Operation::kMax) work(Max{});
    if (op == Operation::kFill) work(Fill{});
    CUDA_CHECK(cudaGetLastError());
}

template <class Op>
__global__ void scan_warps_kernel(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = warp_scan<Op>(i < n ? in[i] : Op::identity());  // all lanes call it
    if (i < n) out[i] = value;
}

void scan_warps(Operation op, const int* d_in, int* d_out, int n) {
    if (n == 0) return;
    const int blocks = (n + kThreads - 1) / kThreads;
    with_operation(op, [&](auto of) {
        scan_warps_kernel<decltype(of)><<<blocks, kThreads>>>(d_in, d_out, n);
    });
}

template <class Op>
__global__ void scan_blocks_kernel(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int total;
    const int value = block_scan<Op>(i < n ? in[i] : Op::identity(), total);
    if (i < n) out[i] = value;
}

void scan_blocks(Operation op, const int* d_in, int* d_out, int n, int threads) {
    if (n == 0) return;
    const int blocks = (n + threads - 1) / threads;
    with_operation(op, [&](auto of) {
        scan_blocks_kernel<decltype(of)><<<blocks, threads>>>(d_in, d_out, n);
    });
}

void scan_rows(Operation op, Kind kind, const int* d_in, int* d_out, int rows, int cols) {
    with_operation(op, [&](auto of) {
        scan_rows_kernel<decltype(of)><<<rows, kThreads>>>(kind, d_in, d_out, cols);
    });
}

void scan(Operation op, Kind kind, const int* d_in, int* d_out, int n, void* d_scratch) {
    with_operation(op, [&](auto of) { scan_all<decltype(of)>(kind, d_in, d_out, n, d_scratch); });
}

// Other blocks publish their states while this one loads them. `volatile` makes every access
// happen, in one step of 64 bits. The word holds both status and value, so no fence is needed.
__device__ [[maybe_unused]] static void publish(TileState* states, int tile, Status status,
                                                int value) {
    const_cast<volatile TileState*>(states)[tile] = state_word(status, value);
}
__device__ [[maybe_unused]] static TileState look_at(const TileState* states, int tile) {
    return const_cast<const volatile TileState*>(states)[tile];
}
__device__ static Status status_in(TileState state) {
    return static_cast<Status>(state >> 32);
}
__device__ [[maybe_unused]] static int value_in(TileState state) {
    return static_cast<int>(static_cast<unsigned>(state));
}

// Called by one thread of a tile. Publishes the tile's total, finds the sum of all elements in the
// tiles before it, publishes the tile's prefix, and returns that sum.
__device__ static int exchange(TileState* states, int tile, int total) {
    int carry = 0;
    if (tile > 0) publish(states, tile, kTotal, total);
    for (int before = tile - 1; before >= 0;) {
        const TileState state = look_at(states, before);
        if (status_in(state) == kNothing) continue;  // look again
        carry += value_in(state);
        if (status_in(state) == kPrefix) break;
        --before;
    }
    publish(states, tile, kPrefix, carry + total);
    return carry;
}

// Block 0 is the tile, block 1 the tiles before it.
__global__ void exchange_kernel(TileState* states, const TileState* later, int tile, int total,
                                int* carry) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) *carry = exchange(states, tile, total);
        return;
    }
    while (status_in(look_at(states, tile)) == kNothing) {  // waits for the tile's total
    }
    for (int t = threadIdx.x; t < tile; t += blockDim.x) {
        if (status_in(later[t]) != kNothing)
            publish(states, t, status_in(later[t]), value_in(later[t]));
    }
}

void exchange_alone(TileState* d_states, const TileState* d_later, int tile, int total,
                    int* d_carry) {
    exchange_kernel<<<2, kLanes>>>(d_states, d_later, tile, total, d_carry);
    CUDA_CHECK(cudaGetLastError());
}

// One block for each tile. Each thread keeps its elements in registers until the carry is known, so
// that every element is loaded once and stored once.
__global__ void __launch_bounds__(kThreads)
    one_pass_kernel(const int* in, int* out, int n, TileState* states, unsigned* next_tile) {
    __shared__ int shared_tile, shared_carry;
    // Not blockIdx.x: CUDA does not promise in which order blocks start. With a counter, all lower
    // numbers belong to blocks that are running or done.
    if (threadIdx.x == 0) shared_tile = atomicAdd(next_tile, 1u);
    __syncthreads();  // all threads read the number
    const int tile = shared_tile;
    constexpr int kRounds = kTile / kThreads;
    int mine[kRounds];  // of each round, the sum up to this thread's element
    int total = 0;
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
        const int i = tile * kTile + round * kThreads + threadIdx.x;
        const int value = i < n ? in[i] : 0;
        int of_round;
        mine[round] = total + block_scan<Sum>(value, of_round) + value;
        total += of_round;
    }
    if (threadIdx.x == 0) shared_carry = exchange(states, tile, total);
    __syncthreads();  // all threads read the carry
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
        const int i = tile * kTile + round * kThreads + threadIdx.x;
        if (i < n) out[i] = shared_carry + mine[round];
    }
}

void sum_in_one_pass(const int* d_in, int* d_out, int n, void* d_scratch) {
    if (n == 0) return;
    const int tiles = (n + kTile - 1) / kTile;
    // The counter follows the states.
    auto* d_states = static_cast<TileState*>(d_scratch);
    auto* d_next_tile = reinterpret_cast<unsigned*>(d_states + tiles);
    CUDA_CHECK(cudaMemsetAsync(d_scratch, 0, (tiles + 1) * sizeof(TileState)));
    one_pass_kernel<<<tiles, kThreads>>>(d_in, d_out, n, d_states, d_next_tile);
    CUDA_CHECK(cudaGetLastError());
}
