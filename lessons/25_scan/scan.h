// SPDX-License-Identifier: MIT
// Lesson 25, scan: what scan.cu implements and the test calls.
//
// A scan combines, for each element, everything from the beginning up to it. The *inclusive* scan
// takes the element itself in; the *exclusive* one does not, so its element 0 is the identity.
//
// A d_ prefix marks a pointer to device memory. d_out may be d_in; apart from that, the arrays of
// one call do not overlap, and inputs stay as they are. 0 <= n <= 2^30; for n = 0 no kernel is
// launched. All sums fit their type. Everything runs in the default stream.
#pragma once

#include "cuda_check.h"

// How two values a and b become one, where all of a's elements stand before all of b's.
enum class Operation {
    kSum,   // a + b
    kMax,   // the larger one
    kFill,  // b, unless b is 0; then a: zeros are filled with the last value before them
};
enum class Kind { kInclusive, kExclusive };

// The inclusive scans of the elements [32 * w, 32 * (w + 1)) of d_in, each on its own.
void scan_warps(Operation op, const int* d_in, int* d_out, int n);

// The exclusive scans of the elements [threads * b, threads * (b + 1)) of d_in, each on its own.
// `threads` is a multiple of 32, at least 32 and at most 1024.
void scan_blocks(Operation op, const int* d_in, int* d_out, int n, int threads);

// The scan of each row of a matrix in row-major order, by one block. rows >= 1, cols >= 1, and
// rows * cols <= 2^30.
void scan_rows(Operation op, Kind kind, const int* d_in, int* d_out, int rows, int cols);

// Threads in a block of the functions below, and the elements that a block takes: a tile.
inline constexpr int kThreads = 256;
inline constexpr int kTile = 4096;

// What d_scratch of the functions below must have room for: 8 bytes for each tile, and 8 more. It
// is aligned to 16 bytes. Its contents do not matter.
constexpr size_t scratch_bytes(int n) {
    return 8 * (static_cast<size_t>(n) / kTile + 2);
}

// The scan of all n elements, in three launches.
void scan(Operation op, Kind kind, const int* d_in, int* d_out, int n, void* d_scratch);

// d_counts: the lengths of n lists, none negative. d_offsets: n + 1 numbers, d_offsets[k] is where
// list k begins if the lists are laid one after the other, and d_offsets[n] the length of all
// together, which may need more than 32 bits. For n = 0 d_offsets[0] is 0.
void offsets(const int* d_counts, long long* d_offsets, int n, void* d_scratch);

// What a tile has published for the others: one word of 64 bits, so that it is stored and loaded in
// one step. The upper half says what the lower half is.
using TileState = unsigned long long;
enum Status : unsigned {
    kNothing = 0,  // nothing yet
    kTotal = 1,    // the sum of the tile's own elements
    kPrefix = 2,   // the sum of all elements up to the end of the tile
};
__host__ __device__ constexpr TileState state_word(Status status, int value) {
    return static_cast<TileState>(status) << 32 | static_cast<unsigned>(value);
}

// One tile publishes its total, finds out what all tiles before it have summed up to, stores that
// in *d_carry, and publishes its prefix. A second block plays the tiles before it: they have
// published d_states[0] to d_states[tile - 1] at the beginning, and publish d_later[0] to
// d_later[tile - 1] as soon as this tile has published its total in d_states[tile]. d_later holds
// nothing for those that have no more to publish. Status and value are taken from one load: a total
// may become a prefix at any time, and a second load could bring the one's value and the other's
// status. A state that is there is loaded twice at most: by the loop that waits for it, and to use
// it. 1 <= tile <= 2^20; d_states[tile] is nothing at the beginning.
void exchange_alone(TileState* d_states, const TileState* d_later, int tile, int total,
                    int* d_carry);

// The inclusive sums of all n elements, in one launch.
void sum_in_one_pass(const int* d_in, int* d_out, int n, void* d_scratch);
