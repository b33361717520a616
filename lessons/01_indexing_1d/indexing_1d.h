// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: what indexing_1d.cu implements and the test calls.
//
// Every function takes one launch. `blocks` blocks of `threads` threads have one thread for each of
// the n = blocks * threads elements (n <= 17,000,000, threads <= 1024). A d_ prefix marks a pointer
// to device memory, n elements long. A refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// d_out[i] = 0 for every i in [0, n).
void zero_out(float* d_out, int blocks, int threads);

// d_data[i] += 1 for every i in [0, n), once.
void increment(int* d_data, int blocks, int threads);

// d_out[i] = i for every i in [0, n).
void iota(int* d_out, int blocks, int threads);

// d_out[i] = d_in[n - 1 - i] for every i in [0, n). The arrays do not overlap; d_in is unchanged.
void reverse(const int* d_in, int* d_out, int blocks, int threads);
