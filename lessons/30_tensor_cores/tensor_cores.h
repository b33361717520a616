// SPDX-License-Identifier: MIT
// Lesson 30, tensor cores: what tensor_cores.cu implements and the test calls.
//
// C = A B, where A and B hold `half` and C holds `float`. The old contents of C are overwritten;
// k = 0 gives zeros. For an empty matrix no kernel is launched.
//
// Matrix instructions compute the products and sum them in float, in any order: an element of C
// differs from the exact sum of the products of halves by at most (k + 1) 2^-23 times the sum of
// |A(i, p) B(p, j)|. An element depends only on row i of A and column j of B, so an infinity
// elsewhere does not change it.
//
// Pointers with the prefix d_ point to device memory. The arrays of one call do not overlap, and
// inputs are not changed. A refused launch throws wb::CudaError.
#pragma once

#include <cuda_fp16.h>

#include "cuda_check.h"

// The side of a fragment: one matrix instruction multiplies kSide x kSide by kSide x kSide.
inline constexpr int kSide = 16;

// A has m rows of k halves, B k rows of n, C m rows of n floats; m and n are 0 to 65,536, k is 0 to
// 16,384, and C has at most 2^30 elements. Rows begin `pitch` elements apart: element (row, col) is
// at [row * pitch + col]. A pitch may be larger than the row; the elements in the gap are not part
// of the matrix, and do not change.
struct Sizes {
    int m, n, k;
    int a_pitch, b_pitch, c_pitch;
};

// How B is stored in memory. kColumns: by columns, element (row, col) is at [col * b_pitch + row].
enum class Order { kRows, kColumns };

// Rounds rows x cols floats, in rows that begin in_pitch floats apart, to the nearest half. Of two
// equally near halves it takes the even one; from 65,520 on it gives an infinity. In d_out the
// numbers of rows and columns are rounded up to multiples of kSide, without gaps; elements that
// d_in does not have are 0. rows and cols are 0 to 65,536, d_out has at most 2^30 elements.
void round_and_pad(const float* d_in, half* d_out, int rows, int cols, int in_pitch);

// The errors of an element of C, compared with the product of the matrices of float before they
// were rounded to half: the error from rounding the inputs, and the error of the sum.
struct Errors {
    double inputs, sum;
};

// The largest possible errors for k products of floats whose magnitudes |A(i, p) B(p, j)| add up to
// `magnitude`. Each float is in the range in which a half has 11 significant bits. `sum` is the
// bound at the top of this file. Both are correct to within 1 %: products of two errors may be left
// out.
Errors largest_errors(int k, double magnitude);

// C = A B for whole fragments: m, n and k are multiples of kSide, pointers are multiples of 32
// bytes, a_pitch and b_pitch are multiples of 8, c_pitch is a multiple of 4.
void multiply_padded(const half* d_a, const half* d_b, float* d_c, Sizes sizes, Order b_order);

// C = A B for all sizes, pitches and addresses, B in rows. No more loads from global memory than
// tiles of 64 x 64 elements need, and at most 1.25 loads of a fragment from shared memory for each
// matrix instruction of kSide x kSide x kSide.
void multiply_any(const half* d_a, const half* d_b, float* d_c, Sizes sizes);
