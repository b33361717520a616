// SPDX-License-Identifier: MIT
// Lesson 28, group-by and SpMV: what group_by_and_spmv.cu implements and the test calls.
//
// A d_ prefix marks a pointer to device memory; the pointers in the structs below are such
// pointers, too. The arrays of one call do not overlap, and inputs stay as they are. Everything
// runs in the default stream. Sums of floats may be added up in any order, but the same input gives
// the same bits in every run. An infinity goes into the sums of its own segment, group or row
// alone. Of an output, only the places that are said to be stored are written. A refused launch
// throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// Segments within 32 elements: element i begins one where d_head[i] is not 0, and so does element
// 32 * w, for each w. d_sums[i] is the sum of d_x from the beginning of the segment of i up to and
// with element i. 0 <= n <= 2^30; for n = 0 no kernel is launched.
void sums_in_warps(const float* d_x, const unsigned char* d_head, int n, float* d_sums);

// Threads in a block of all kernels, and the rows of a table that a warp takes: a tile.
inline constexpr int kThreads = 256;
inline constexpr int kTile = 1024;

// What d_scratch must have room for: 32 bytes for each tile, and 64 more. It is aligned to 16
// bytes. Its contents do not matter.
constexpr size_t scratch_bytes(int n) {
    return 32 * (static_cast<size_t>(n) / kTile + 3);
}

// What the two functions below return where the keys are not sorted.
inline constexpr int kNotSorted = -1;

// Rows whose keys are equal are a group. The keys are sorted: none is smaller than the one before
// it. They may be any ints, also negative ones, and need not follow each other: 0, 1, 4, 5, ...
// Returns the number of groups, or kNotSorted. 0 <= n <= 2^30; for n = 0 no kernel is launched.
int count_groups(const int* d_key, int n, void* d_scratch);

// The columns of a table: row i is column[0][i] to column[3][i].
inline constexpr int kColumns = 4;
template <class Float>
struct Columns {
    Float* column[kColumns];
};
using Table = Columns<float>;
using ConstTable = Columns<const float>;

// Group g is the g-th in the order of the keys, from 0 on: d_group_key[g] is its key, and row g of
// `sums` has the sum of each column over its rows. Returns the number of groups k; nothing after
// place k - 1 is written. Where the keys are not sorted, nothing is written at all, and kNotSorted
// is returned. n as above.
int sum_by_key(const int* d_key, ConstTable in, int n, int* d_group_key, Table sums,
               void* d_scratch);

// A sparse matrix in CSR form (compressed sparse rows). The entries of row r are numbers
// row_begin[r] to row_begin[r + 1] - 1: entry i has the value value[i], in the column column[i].
// row_begin holds rows + 1 ints from 0 to 2^31 - 1 that never decrease. The first need not be 0:
// the rows may be a part of a larger matrix. A row may be empty; its columns may be in any order,
// and one may occur more than once. A row has at most 2^30 entries. 0 <= rows <= 2^25.
struct CsrMatrix {
    int rows;
    int entries;  // row_begin[rows] - row_begin[0]
    const int* row_begin;
    const int* column;
    const float* value;
};

// d_y[r] = the sum of value * d_x[column] over the entries of row r, 0 for an empty row. Only those
// elements of d_x are loaded that an entry needs. For 0 rows no kernel is launched.
// One thread for each row.
void multiply_by_threads(CsrMatrix a, const float* d_x, float* d_y);

// The same with warps, whose lanes load entries that lie side by side: a row of 1000 entries is
// added up by 32 lanes.
void multiply_by_warps(CsrMatrix a, const float* d_x, float* d_y);
