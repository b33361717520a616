// SPDX-License-Identifier: MIT
// Lesson 18, tree reduction: what tree_reduction.cu implements and the test calls.
//
// Pointers with the prefix d_ point to device memory. The arrays of one call do not overlap.
// 0 <= n <= 2^30; the sum of no numbers is 0. There are no atomics.
#pragma once

#include "cuda_check.h"

// Elements of each block of block_sums, and the block size of sum_by_halving.
inline constexpr int kThreads = 256;

// One level of the halving tree, in place, on a grid that the caller chooses. With half = n / 2
// rounded up: d_data[i] += d_data[half + i] for every i in [0, n - half); nothing else changes.
// d_data: n floats; n >= 1. blocks * threads >= n - half, often far more, and at most 2^30.
void halve_on_grid(float* d_data, int n, int blocks, int threads);

// d_sum[0] = the sum of the n floats of d_data, which are overwritten. One launch for each level of
// the tree, with less than one block of surplus threads.
void sum_by_halving(float* d_data, int n, float* d_sum);

// d_out[b] = the sum of the elements [b * kThreads, (b + 1) * kThreads) of d_in that exist, for
// every b in [0, blocks), where blocks = n / kThreads rounded up. d_in: n floats, which do not
// change; d_out: `blocks` floats. For n = 0 nothing is launched.
void block_sums(const float* d_in, float* d_out, int n);

// d_sum[0] = the sum of the n floats of d_in, which do not change. d_scratch has room for twice as
// many floats as the first pass has blocks.
void tree_sum(const float* d_in, int n, float* d_scratch, float* d_sum);
