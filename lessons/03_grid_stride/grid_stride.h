// SPDX-License-Identifier: MIT
// Lesson 03, grid stride: what grid_stride.cu implements and the test calls.
//
// A d_ prefix marks a pointer to device memory. The arrays of one call do not overlap. `blocks` and
// `threads` are the shape of the one launch, any that the card accepts with at most 2^30 threads;
// 0 <= n <= 2^30. A refused launch throws wb::CudaError.
#pragma once

#include <cstddef>

#include "cuda_check.h"

// The number of a thread within the whole grid, from its block's number, the threads in a block,
// and its number within the block. Exact up to 2^41: 2^31 - 1 blocks of 1024 threads.
__host__ __device__ size_t global_index(unsigned block, unsigned block_size, unsigned thread);

// The number of threads in the whole grid, which is the distance between two elements of one
// thread. Exact up to 2^41.
__host__ __device__ size_t grid_stride(unsigned blocks, unsigned block_size);

// d_out[i] = d_a[i] + d_b[i] for every i in [0, n); n floats each, each sum computed once.
void add(const float* d_a, const float* d_b, float* d_out, size_t n, int blocks, int threads);

// d_data[i] = d_data[i] * d_data[i] for every i in [0, n), in place; n floats.
void square(float* d_data, size_t n, int blocks, int threads);
