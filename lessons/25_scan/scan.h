// SPDX-License-Identifier: MIT
// Lesson 25, scan: what scan.cu implements and the test calls.
//
// A scan combines, for each element, all elements from the first one up to it. The *inclusive* scan
// includes the element itself. The *exclusive* scan does not, so its element 0 is the identity.
//
// A d_ prefix marks a pointer to device memory. d_out may be d_in; apart from that, the arrays of
// one call do not overlap, and inputs are not changed. 0 <= n <= 2^30; for n = 0 no kernel is
// launched. All sums fit their type. Everything runs in the default stream.
#pragma once

#include "cuda_check.h"

// How two values a and b are combined. All elements of a come before all elements of b.
enum class Operation {
    kSum,   // a + b
    kMax,   // the larger one
    kFill,  // b, unless b is 0; then a: zeros are filled with the last value before them
};
enum class Kind { kInclusive, kExclusive };

// A separate inclusive scan of the elements [32 * w, 32 * (w + 1)) of d_in, for each warp w.
void scan_warps(Operation op, const int* d_in, int* d_out, int n);

// A separate exclusive scan of the elements [threads * b, threads * (b + 1)) of d_in, for each b.
// `threads` is a multiple of 32, at least 32 and at most 1024.
void scan_blocks(Operation op, const int* d_in, int* d_out, int n, int threads);

// The scan of each row of a matrix in row-major order, by one block. rows >= 1, cols >= 1, and
// rows * cols <= 2^30.
void scan_rows(Operation op, Kind kind, const int* d_in, int* d_out, int rows, int cols);

// For the functions below: threads in a block, and elements in a tile, which one block processes.
inline constexpr int kThreads = 256;
inline constexpr int kTile = 4096;

// The size of d_scratch for the functions below: 8 bytes for each tile, and 8 more. It is aligned
// to 16 bytes, and its contents are not defined.
constexpr size_t scratch_bytes(int n) {
    return 8 * (static_cast<size_t>(n) / kTile + 2);
}

// The scan of all n elements, in three launches.
void scan(Operation op, Kind kind, const int* d_in, int* d_out, int n, void* d_scratch);

// d_counts: the lengths of n lists, none negative. d_offsets: n + 1 numbers. If the lists are
// stored one after the other, list k begins at d_offsets[k], and d_offsets[n] is the length of all
// together, which may need more than 32 bits. For n = 0 d_offsets[0] is 0.
void offsets(const int* d_counts, long long* d_offsets, int n, void* d_scratch);

// What a tile has published for the other tiles. It is one word of 64 bits, so that it is stored
// and loaded in one step: the status in the upper half, the value in the lower half.
using TileState = unsigned long long;
enum Status : unsigned {
    kNothing = 0,  // nothing yet
    kTotal = 1,    // the value is the sum of the tile's own elements
    kPrefix = 2,   // the value is the sum of all elements up to the end of the tile
};
__host__ __device__ constexpr TileState state_word(Status status, int value) {
    return static_cast<TileState>(status) << 32 | static_cast<unsigned>(value);
}

// One tile publishes its total, looks back for the sum of all tiles before it, stores that sum in
// *d_carry, and publishes its prefix. A second block plays the tiles before it. At the start they
// have published d_states[0] to d_states[tile - 1]. Once this tile has published its total in
// d_states[tile], they publish d_later[0] to d_later[tile - 1]; where d_later is kNothing, the tile
// publishes no more. Take status and value from one load: a total may become a prefix at any time,
// and a second load could return the value of one and the status of the other. A state that has
// been published is loaded at most twice: once by the loop that waits for it, and once to use it.
// 1 <= tile <= 2^20; d_states[tile] is kNothing at the start.
void exchange_alone(TileState* d_states, const TileState* d_later, int tile, int total,
                    int* d_carry);

// The inclusive sums of all n elements, in one launch.
void sum_in_one_pass(const int* d_in, int* d_out, int n, void* d_scratch);
