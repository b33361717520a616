// SPDX-License-Identifier: MIT
// Lesson 26, compaction: what compaction.cu implements and the test calls.
//
// Elements that pass a test are stored side by side, in the order in which they were. An element
// passes if it is larger than `limit`; a NaN never does. A d_ prefix marks a pointer to device
// memory. The arrays of one call do not overlap, and inputs stay as they are. 0 <= n <= 2^30; for
// n = 0 no kernel is launched. Everything runs in the default stream. The same input gives the same
// output in every run. Of an output, only the places that are said to be stored are written.
#pragma once

#include "cuda_check.h"

// Of each 32 elements [32 * w, 32 * (w + 1)) of d_x, those that pass are stored from d_out[32 * w]
// on, and d_counts[w] is their number. d_out: n floats; d_counts: n / 32 rounded up.
void select_in_warps(const float* d_x, int n, float limit, float* d_out, int* d_counts);

// The same for each `threads` elements, with a block for them: stored from d_out[threads * b] on,
// and d_counts[b] is their number. `threads` is a multiple of 32, at least 32 and at most 1024.
void select_in_blocks(const float* d_x, int n, float limit, float* d_out, int* d_counts,
                      int threads);

// Threads in a block of the functions below, and the elements that a block takes: a tile.
inline constexpr int kThreads = 256;
inline constexpr int kTile = 4096;

// What d_scratch must have room for: 8 bytes for each tile, and 16 more. It is aligned to 16 bytes.
// Its contents do not matter.
constexpr size_t scratch_bytes(int n) {
    return 8 * (static_cast<size_t>(n) / kTile + 3);
}

// The elements that pass are stored from d_out[0] on. Returns their number k; nothing after
// d_out[k - 1] is written.
int select_above(const float* d_x, int n, float limit, float* d_out, void* d_scratch);

// The columns of a table: row i is energy[i], eta[i], phi[i], charge[i].
template <class Float, class Int>
struct Columns {
    Float *energy, *eta, *phi;
    Int* charge;
};
using Table = Columns<float, int>;
using ConstTable = Columns<const float, const int>;

// The rows i of `in` with d_mask[i] != 0 are stored as rows 0, 1, ... of `out`. Returns their
// number. Columns of other rows are not loaded.
int select_rows(const unsigned char* d_mask, ConstTable in, int n, Table out, void* d_scratch);

// All elements are stored: first those that pass, then the others, both in the order in which they
// were. Returns the number of those that pass.
int partition_above(const float* d_x, int n, float limit, float* d_out, void* d_scratch);
