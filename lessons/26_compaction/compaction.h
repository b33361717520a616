// SPDX-License-Identifier: MIT
// Lesson 26, compaction: what compaction.cu implements and the test calls.
//
// Elements that pass a test are stored side by side, in their original order. An element passes if
// it is larger than `limit`; a NaN never passes. A d_ prefix marks a pointer to device memory. The
// arrays of one call do not overlap, and inputs are not changed. 0 <= n <= 2^30; for n = 0 no
// kernel is launched. Everything runs in the default stream. The same input gives the same output
// in every run. Only the places of an output that are named below are written.
#pragma once

#include "cuda_check.h"

// For each 32 elements [32 * w, 32 * (w + 1)) of d_x: those that pass are stored from d_out[32 * w]
// on, and d_counts[w] is their number. d_out: n floats; d_counts: n / 32 rounded up.
void select_in_warps(const float* d_x, int n, float limit, float* d_out, int* d_counts);

// The same for each `threads` elements, by one block: those that pass are stored from
// d_out[threads * b] on, and d_counts[b] is their number. `threads` is a multiple of 32, at least
// 32 and at most 1024.
void select_in_blocks(const float* d_x, int n, float limit, float* d_out, int* d_counts,
                      int threads);

// For the functions below: threads in a block, and elements in a tile, which one block processes.
inline constexpr int kThreads = 256;
inline constexpr int kTile = 4096;

// The size of d_scratch: 8 bytes for each tile, and 16 more. It is aligned to 16 bytes, and its
// contents are not defined.
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

// All elements are stored: first those that pass, then the others, both in their original order.
// Returns the number of those that pass.
int partition_above(const float* d_x, int n, float limit, float* d_out, void* d_scratch);
