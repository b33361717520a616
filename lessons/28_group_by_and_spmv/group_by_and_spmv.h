// SPDX-License-Identifier: MIT
// Lesson 28, group-by and SpMV: what group_by_and_spmv.cu implements and the test calls.
//
// A d_ prefix marks a pointer to device memory; the pointers in the structs below are such
// pointers, too. The arrays of one call do not overlap, and inputs are not changed. Everything
// runs in the default stream. The floats of a sum may be added in any order, but the same input
// gives the same bits in every run. An infinity changes only the sums of its own segment, group or
// row. Only the places of an output that are named below are written. A refused launch throws
// wb::CudaError.
#pragma once

#include "cuda_check.h"

// Segments within 32 elements: element i begins a segment if d_head[i] is not 0, and element 32 * w
// always begins one. d_sums[i] is the sum of d_x from the beginning of the segment of i up to and
// with element i. 0 <= n <= 2^30; for n = 0 no kernel is launched.
void sums_in_warps(const float* d_x, const unsigned char* d_head, int n, float* d_sums);

// Threads in a block of all kernels, and rows in a tile of a table, which one warp processes.
inline constexpr int kThreads = 256;
inline constexpr int kTile = 1024;

// The size of d_scratch: 32 bytes for each tile, and 64 more. It is aligned to 16 bytes, and its
// contents are not defined.
constexpr size_t scratch_bytes(int n) {
    return 32 * (static_cast<size_t>(n) / kTile + 3);
}

// The two functions below return this if the keys are not sorted.
inline constexpr int kNotSorted = -1;

// Rows with equal keys are a group. Keys are sorted if no key is smaller than the one before it.
// They may be any ints, also negative ones, and may have gaps: 0, 1, 4, 5, ... Returns the number
// of groups, or kNotSorted. 0 <= n <= 2^30; for n = 0 no kernel is launched.
int count_groups(const int* d_key, int n, void* d_scratch);

// The columns of a table: row i is column[0][i] to column[3][i].
inline constexpr int kColumns = 4;
template <class Float>
struct Columns {
    Float* column[kColumns];
};
using Table = Columns<float>;
using ConstTable = Columns<const float>;

// Groups are numbered from 0 in the order of the keys: d_group_key[g] is the key of group g, and
// row g of `sums` has the sum of each column over the rows of the group. Returns the number of
// groups k; nothing after place k - 1 is written. If the keys are not sorted, returns kNotSorted
// and writes nothing. n as above.
int sum_by_key(const int* d_key, ConstTable in, int n, int* d_group_key, Table sums,
               void* d_scratch);

// A sparse matrix in CSR form (compressed sparse rows). The entries of row r are numbers
// row_begin[r] to row_begin[r + 1] - 1: entry i has the value value[i], in the column column[i].
// row_begin holds rows + 1 ints from 0 to 2^31 - 1 that never decrease. The first need not be 0:
// the rows may be a part of a larger matrix. A row may be empty. Its columns may be in any order,
// and a column may occur more than once. A row has at most 2^30 entries. 0 <= rows <= 2^25.
struct CsrMatrix {
    int rows;
    int entries;  // row_begin[rows] - row_begin[0]
    const int* row_begin;
    const int* column;
    const float* value;
};

// d_y[r] = the sum of value * d_x[column] over the entries of row r, 0 for an empty row. Only the
// elements of d_x that an entry needs are loaded. For 0 rows no kernel is launched. One thread for
// each row.
void multiply_by_threads(CsrMatrix a, const float* d_x, float* d_y);

// The same with one warp for each row, whose lanes load entries that are side by side: 32 lanes add
// up a row of 1000 entries.
void multiply_by_warps(CsrMatrix a, const float* d_x, float* d_y);
