// SPDX-License-Identifier: MIT
// Lesson 16, transpose: what transpose_bank_conflicts.cu implements and the test calls.
//
// A matrix has `rows` rows of `cols` floats, 1 to 2^20 each. Its rows begin `pitch` floats apart:
// element (row, col) is at [row * pitch + col]. A pitch may be larger than the row; the floats in
// the gap are not part of the matrix and must not change. Pointers with the prefix d_ point to
// device memory; the arrays of one call do not overlap. A refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// The side of a square tile: as many floats as a warp has lanes.
inline constexpr int kTile = 32;

// Shared memory has 32 banks; the 4-byte word w lies in bank w % 32.
inline constexpr int kBanks = 32;

// d_out (row, col) = d_in (col, row) for every row in [0, cols) and col in [0, rows), without
// shared memory. d_in: rows x cols, in_pitch >= cols; d_out: cols x rows,
// out_pitch >= rows.
void transpose_naive(const float* d_in, float* d_out, int rows, int cols, int in_pitch,
                     int out_pitch);

// How many passes over the banks a warp needs to read one column of a tile whose rows are `width`
// floats wide: lane l reads tile[l][c], all lanes the same c. It is the largest number of lanes
// that read from one bank. Every width from 1 to 2^31 - 1 is allowed: lane * width may need more
// than 31 bits.
int column_passes(int width);

// The same result as transpose_naive, through a tile in shared memory, each element loaded once.
void transpose(const float* d_in, float* d_out, int rows, int cols, int in_pitch, int out_pitch);
