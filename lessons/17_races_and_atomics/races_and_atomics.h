// SPDX-License-Identifier: MIT
// Lesson 17, races and atomics: what races_and_atomics.cu implements and the test calls.
//
// A d_ prefix marks a pointer to device memory; d_x holds n floats, none of them a NaN. The arrays
// of one call do not overlap. Everything runs in the default stream. 0 <= n <= 2^30; for n = 0 no
// kernel is launched. A refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// d_count[0] grows by the number of elements of d_x above `limit`, that is larger than it. It
// counts beyond 2^32.
void count_above(const float* d_x, int n, float limit, unsigned long long* d_count);

// The indexes i with d_x[i] > limit are stored in d_out[0], d_out[1], ..., each once and in any
// order; d_count[0] becomes their number. d_out: room for n ints, of which only those are written.
void collect_above(const float* d_x, int n, float limit, int* d_out, unsigned* d_count);

// As count_above, with at most one atomic for each warp of 32 threads.
void count_above_by_warps(const float* d_x, int n, float limit, unsigned long long* d_count);

// d_max[0] = the largest element of d_x, or -infinity for n = 0. -0 and +0 are equal: where they
// are the largest, either may come out.
void maximum(const float* d_x, int n, float* d_max);

// A value and its index in one number, so that pack(a, i) > pack(b, j) exactly if a > b, or a == b
// and i < j. -0 and +0 are equal. `value` is no NaN. Never 0.
__host__ __device__ unsigned long long pack(float value, unsigned index);

// The index that was packed.
__host__ __device__ unsigned index_of(unsigned long long packed);

// d_best[0] = pack(d_x[i], i) of the largest element; of several, the one with the lowest index. 0
// for n = 0.
void arg_max(const float* d_x, int n, unsigned long long* d_best);
