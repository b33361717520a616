// SPDX-License-Identifier: MIT
// Lesson 14, shared memory and barriers: what shared_memory_barriers.cu implements and the test
// calls.
//
// Each function works on arrays of n floats with blocks of `threads` threads, 1 to 1024, which need
// not be a multiple of 32. The part of a block is the `threads` elements from blockIdx.x * threads
// on; the last part may be shorter. Pointers with the prefix d_ point to device memory. For n = 0
// nothing is launched. Every thread of a block must reach every barrier. A refused launch throws
// wb::CudaError.
#pragma once

#include "cuda_check.h"

// d_out[i] = d_in[i + 1] - d_in[i] for every i in [0, n), where d_in[n] counts as 0. The arrays do
// not overlap. Each input is loaded from global memory once, plus one for each block.
void differences(const float* d_in, float* d_out, int n, int threads);

// Reverses the part of each block in place: with n = 7 and threads = 4, 0123456 becomes 3210654.
// Every element passes through a tile in shared memory, and each block has at most one barrier.
void reverse_blocks(float* d_data, int n, int threads);

// d_out[i] = d_in[n - 1 - i] for every i in [0, n). The arrays do not overlap. Again every element
// passes through a tile, and each block has at most one barrier.
void reverse_array(const float* d_in, float* d_out, int n, int threads);
