// SPDX-License-Identifier: MIT
// Lesson 02, boundary checks: what boundary_checks.cu implements and the test calls.
//
// A d_ prefix marks a pointer to device memory. The arrays of one call do not overlap. A refused
// launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// The number of threads in each block that launch_1d launches.
inline constexpr int kThreadsPerBlock = 256;

// d_c[i] = d_a[i] + d_b[i] for every i in [0, n), each array n floats, on a grid that the caller
// chooses: blocks * threads >= n, often far more, and at most 2^30. n may be 0; blocks and threads
// are at least 1.
void vector_add_on_grid(const float* d_a, const float* d_b, float* d_c, int n, int blocks,
                        int threads);

// The number of groups of `size` that n things need: n / size, rounded up. 0 <= n <= 2^62,
// size >= 1.
long long ceil_div(long long n, int size);

// Like vector_add_on_grid, with just enough blocks for n <= 2^30. For n = 0 it launches nothing.
void vector_add(const float* d_a, const float* d_b, float* d_c, int n);

// The index in [0, length) that `i` stands for when the array repeats endlessly in both directions:
// for length 6, index 6 is 0, 8 is 2, and -1 is 5. Any i; 1 <= length <= 2^30. Runs on the host and
// on the device.
__host__ __device__ int wrap_index(int i, int length);

// What gather does with an index outside [0, length).
enum class OutOfRange {
    kWrap,   // wrap_index
    kClamp,  // below 0: the first element; above the end: the last
    kCount,  // leave that output element as it was, and count the bad index
};

// d_out[k] = d_values[d_index[k]] for every k in [0, n). d_values: length floats, d_index: n ints,
// d_out: n floats, d_errors: 1 int, set to the number of bad indexes under kCount and to 0
// otherwise. 1 <= length <= 2^30; 0 <= n <= 2^30.
void gather(const float* d_values, int length, const int* d_index, float* d_out, int n,
            OutOfRange policy, int* d_errors);
