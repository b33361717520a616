// SPDX-License-Identifier: MIT
// Lesson 21, histograms in shared memory: what histogram_shared.cu implements and the test calls.
//
// d_keys holds n keys, which do not change: element i belongs in bin d_keys[i]. A key outside
// [0, bins) is not counted. Counts are added to the `bins` counters of d_counts, which the caller
// clears when it wants to; each stays below 2^32. Pointers with the prefix d_ point to device
// memory; the arrays of one call do not overlap. 0 <= n <= 2^30; for n = 0 nothing is launched.
#pragma once

#include "cuda_check.h"

// Bins that fit in the 48 kB of shared memory that any block may have.
inline constexpr int kMaxPrivateBins = 48 * 1024 / sizeof(unsigned);

// Counts with private bins for each block, on a grid that the caller chooses: 1 to 65,536 blocks of
// 1 to 1024 threads, both independent of n and of bins. 1 <= bins <= kMaxPrivateBins. At most
// blocks * bins atomics go to global memory.
void count_in_blocks(const int* d_keys, int n, int bins, unsigned* d_counts, int blocks,
                     int threads);

// The block size that the functions below use, and their largest number of blocks with private
// bins.
inline constexpr int kThreads = 256;
inline constexpr int kMaxBlocks = 1024;

// A block with private bins pays off if it counts at least this many keys for each bin that it must
// merge, and for each of its threads.
inline constexpr int kShare = 8;

// Counts with private bins if they fit, in as many blocks as pay off, but at least 1 and at most
// kMaxBlocks; with atomics to d_counts if they do not fit. 1 <= bins <= 2^24.
void histogram(const int* d_keys, int n, int bins, unsigned* d_counts);

// The same as histogram for keys of which many are equal: lanes of a warp that have the same key at
// the same time make one atomic together. 1 <= bins <= kMaxPrivateBins.
void histogram_skewed(const int* d_keys, int n, int bins, unsigned* d_counts);
