// SPDX-License-Identifier: MIT
// Lesson 19, block and warp reduction: what block_and_warp_reduction.cu implements and the test
// calls.
//
// Pointers with the prefix d_ point to device memory. The arrays of one call do not overlap; inputs
// do not change. 0 <= n <= 2^30. The same input gives the same bits in every run, and there are no
// atomics.
#pragma once

#include "cuda_check.h"

// Threads in a block of the grid-wide reductions, and the largest number of blocks.
inline constexpr int kThreads = 256;
inline constexpr int kMaxBlocks = 1024;

// d_out[w] = the sum of the elements [32 * w, 32 * (w + 1)) of d_in that exist, added in double.
// d_in: n floats; d_out: n / 32 rounded up. For n = 0 nothing is launched. No shared memory is
// used.
void warp_sums(const float* d_in, float* d_out, int n);

// d_out[r] = the sum of row r of d_in, added in double. d_in: rows * cols floats, without gaps;
// d_out: rows floats. rows >= 1, cols >= 1, rows * cols <= 2^30.
void row_sums(const float* d_in, float* d_out, int rows, int cols);

// The size of d_scratch of the functions below in bytes: a value of up to 16 bytes from each block.
// Its contents do not matter.
inline constexpr size_t kScratchBytes = 16 * kMaxBlocks;

// *d_result = the sum of d_x[i], and of d_x[i] * d_w[i], over i in [0, n). Products and sums
// are computed in double: the error is at most n * 2^-53 * (the sum of the magnitudes).
void sum(const float* d_x, int n, void* d_scratch, double* d_result);
void weighted_sum(const float* d_x, const float* d_w, int n, void* d_scratch, double* d_result);

// *d_result = the root of the sum of d_x[i]^2, computed in double, so that no float overflows it.
void norm(const float* d_x, int n, void* d_scratch, double* d_result);

// *d_result = the smallest element; infinity for n = 0; a NaN if any element is a NaN. -0 and +0
// are equal: where they are the smallest, either is right.
void minimum(const float* d_x, int n, void* d_scratch, float* d_result);

// *d_result = the index of the largest element, of several largest the lowest; -1 for n = 0. A NaN
// counts as larger than all numbers. -0 and +0 are equal.
void arg_max(const float* d_x, int n, void* d_scratch, int* d_result);
