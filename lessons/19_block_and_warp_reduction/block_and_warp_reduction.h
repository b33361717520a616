// SPDX-License-Identifier: MIT
// Lesson 19, block and warp reduction: what block_and_warp_reduction.cu implements and the test
// calls.
//
// A d_ prefix marks a pointer to device memory. The arrays of one call do not overlap; inputs stay
// as they are. Everything runs in the default stream. 0 <= n <= 2^30. The same input gives the same
// bits in every run and on every device: no order is left to chance, and no atomics are used.
#pragma once

#include "cuda_check.h"

// Threads in a block of the grid-wide reductions, and the largest number of blocks.
inline constexpr int kThreads = 256;
inline constexpr int kMaxBlocks = 1024;

// d_out[w] = the sum of the elements [32 * w, 32 * (w + 1)) of d_in, or of those of them that
// exist, summed in double. d_in: n floats; d_out: n / 32 rounded up. For n = 0 nothing is launched.
void warp_sums(const float* d_in, float* d_out, int n);

// d_out[r] = the sum of row r of d_in, summed in double. d_in: rows * cols floats, without gaps;
// d_out: rows floats. rows >= 1, cols >= 1.
void row_sums(const float* d_in, float* d_out, int rows, int cols);

// What d_scratch of the functions below must have room for, in bytes: a value of up to 16 bytes
// from each block. Its contents do not matter.
inline constexpr size_t kScratchBytes = 16 * kMaxBlocks;

// *d_result = the sum of d_x[i], and of d_x[i] * d_w[i], over the i in [0, n). Products and sums
// are made in double: the error is at most n * 2^-53 * (the sum of the magnitudes).
void sum(const float* d_x, int n, void* d_scratch, double* d_result);
void weighted_sum(const float* d_x, const float* d_w, int n, void* d_scratch, double* d_result);

// *d_result = the root of the sum of d_x[i]^2, made in double: no float overflows it.
void norm(const float* d_x, int n, void* d_scratch, double* d_result);

// *d_result = the smallest element; infinity for n = 0. If any element is a NaN, a NaN. -0 and +0
// are equal: either may come out.
void minimum(const float* d_x, int n, void* d_scratch, float* d_result);

// *d_result = the index of the largest element, of several the lowest; -1 for n = 0. A NaN counts
// as larger than all numbers. -0 and +0 are equal.
void arg_max(const float* d_x, int n, void* d_scratch, int* d_result);
