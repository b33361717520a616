// SPDX-License-Identifier: MIT
// Lesson 30, tensor cores: what tensor_cores.cu implements and the test calls.
//
// C = A B, where A and B hold `half` and C holds `float`. C is overwritten, whatever it held; k = 0
// gives zeros. For a matrix of no elements no kernel is launched.
//
// Products are made by matrix instructions and summed in float, in any order: an element of C
// differs from the exact sum of the products of halves by at most (k + 1) 2^-23 times the sum of
// |A(i, p) B(p, j)|. It depends on row i of A and column j of B alone, so that an infinity
// elsewhere does not spoil it.
//
// Pointers with the prefix d_ point to device memory. The arrays of one call do not overlap, and
// inputs stay as they are. A refused launch throws wb::CudaError.
#pragma once

#include <cuda_fp16.h>

#include "cuda_check.h"

// The side of a fragment: one matrix instruction multiplies kSide x kSide by kSide x kSide.
inline constexpr int kSide = 16;

// A has m rows of k halves, B k rows of n, C m rows of n floats; m and n are 0 to 65,536, k is 0 to
// 16,384, and C has at most 2^30 elements. Rows begin `pitch` elements apart: element (row, col) is
// at [row * pitch + col]. A pitch may be larger than the row; what lies in the gap is not part of
// the matrix, and does not change.
struct Sizes {
    int m, n, k;
    int a_pitch, b_pitch, c_pitch;
};

// How B lies in memory. kColumns: column after column, element (row, col) is at
// [col * b_pitch + row].
enum class Order { kRows, kColumns };

// Rounds rows x cols floats, in rows that begin in_pitch floats apart, to the nearest half, to the
// even one of two that are equally near, to an infinity from 65,520 on. d_out has `cols` rounded up
// to a multiple of kSide in each row, without gaps, and `rows` rounded up as well; elements that
// d_in does not have are 0. rows and cols are 0 to 65,536, d_out has at most 2^30 elements.
void round_and_pad(const float* d_in, half* d_out, int rows, int cols, int in_pitch);

// How far an element of C may be from the product of two matrices of float that were rounded to
// half: by the rounding of the inputs, and by the sum.
struct Errors {
    double inputs, sum;
};

// The largest possible errors for k products of floats whose magnitudes |A(i, p) B(p, j)| add up to
// `magnitude`. Each float is in the range where half has 11 significant bits. `sum` is the bound at
// the top of this file. Both to within 1 %: products of two errors may be left out.
Errors largest_errors(int k, double magnitude);

// C = A B for whole fragments: m, n and k are multiples of kSide, pointers are multiples of 32
// bytes, a_pitch and b_pitch are multiples of 8, c_pitch is a multiple of 4.
void multiply_padded(const half* d_a, const half* d_b, float* d_c, Sizes sizes, Order b_order);

// C = A B for all sizes, pitches and addresses, B in rows. No more loads from global memory than
// tiles of 64 x 64 elements need, and at most 1.25 loads of a fragment from shared memory for each
// matrix instruction of kSide x kSide x kSide.
void multiply_any(const half* d_a, const half* d_b, float* d_c, Sizes sizes);
