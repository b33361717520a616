// SPDX-License-Identifier: MIT
// Lesson 17, races and atomics: what races_and_atomics.cu implements and the test calls.
//
// Pointers with the prefix d_ point to device memory. d_x holds n floats, 0 <= n <= 2^30, and no
// NaN. The arrays of one call do not overlap. d_x does not change. For n = 0 no kernel is launched.
// A refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// Adds to d_count[0] the number of elements of d_x above `limit`, that is, larger than it. The
// count may exceed 2^32.
void count_above(const float* d_x, int n, float limit, unsigned long long* d_count);

// Stores the indexes i with d_x[i] > limit in d_out[0], d_out[1], ..., each once and in any order,
// and their number in d_count[0]. d_out has room for n ints; those after the indexes do not change.
void collect_above(const float* d_x, int n, float limit, int* d_out, unsigned* d_count);

// The same as count_above, with at most one atomic for each warp of 32 threads.
void count_above_by_warps(const float* d_x, int n, float limit, unsigned long long* d_count);

// d_max[0] = the largest element of d_x, or -infinity for n = 0. -0 and +0 are equal: where they
// are the largest, either is right.
void maximum(const float* d_x, int n, float* d_max);

// A value and its index in one number, so that pack(a, i) > pack(b, j) exactly if a > b, or a == b
// and i < j. -0 and +0 are equal. `value` is not a NaN. The result is never 0.
__host__ __device__ unsigned long long pack(float value, unsigned index);

// The index that was packed.
__host__ __device__ unsigned index_of(unsigned long long packed);

// d_best[0] = pack(d_x[i], i) of the largest element, and of several largest that with the lowest
// index; 0 for n = 0.
void arg_max(const float* d_x, int n, unsigned long long* d_best);
