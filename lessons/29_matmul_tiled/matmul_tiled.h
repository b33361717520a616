// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: what matmul_tiled.cu implements and the test calls.
//
// C = A B: element (i, j) of C is the sum of A(i, p) B(p, j) over all p in [0, k). The old contents
// of C are overwritten. k = 0 gives zeros. For m = 0 or n = 0 no kernel is launched.
//
// Sums are computed in float, in any order: each differs from the exact sum by at most k 2^-24
// times the sum of |A(i, p) B(p, j)|. A sum depends only on row i of A and column j of B, so an
// infinity elsewhere does not change it.
//
// Pointers with the prefix d_ point to device memory. They are aligned to 4 bytes only: a matrix
// may be a part of a larger one. The arrays of one call do not overlap, and A and B are not
// changed. A refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// A has m rows of k floats, B k rows of n, C m rows of n; m, n and k are 0 to 65,536, and C has at
// most 2^30 elements. Rows begin `pitch` floats apart: element (row, col) is at [row * pitch +
// col]. A pitch may be larger than the row; the floats in the gap are not part of the matrix, and
// do not change.
struct Sizes {
    int m, n, k;
    int a_pitch, b_pitch, c_pitch;
};

// The side of a square tile: as many floats as a warp has lanes.
inline constexpr int kTile = 32;

// One thread for each element of C, without shared memory.
void matmul_naive(const float* d_a, const float* d_b, float* d_c, Sizes sizes);

// The number of floats of A and B that are loaded from global memory in all, if C is divided into
// tiles of `tile` x `tile` elements, and the block of each tile loads each float that its elements
// need once. Tiles at the right and lower edge of C may have fewer rows or columns. m, n and k are
// 0 to 65,536, and all three may have the largest value; tile is 1 to 65,536.
long long floats_loaded(int m, int n, int k, int tile);

// The same result as matmul_naive, through tiles in shared memory: no more loads than
// floats_loaded(m, n, k, kTile).
void matmul_tiled(const float* d_a, const float* d_b, float* d_c, Sizes sizes);

// The same, with several elements of C in the registers of each thread: no more loads from global
// memory than floats_loaded(m, n, k, 64), and at most 0.7 loads from shared memory for each
// product.
void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes sizes);
