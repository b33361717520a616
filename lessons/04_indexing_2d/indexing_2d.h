// SPDX-License-Identifier: MIT
// Lesson 04, indexing in two dimensions: what indexing_2d.cu implements and the test calls.
//
// A matrix has `height` rows of `width` floats, row after row. From the start of one row to the
// start of the next are `pitch` floats, pitch >= width. What follows the last column of a row is
// padding: it does not influence a result and is not written. height and width are in [0, 65535].
// A d_ prefix marks a pointer to device memory, height * pitch floats. The matrices of one call do
// not overlap. A refused launch throws wb::CudaError.
#pragma once

#include <cstddef>

#include "cuda_check.h"

// The number of floats before the element in row `row` and column `column`. row and column are in
// [0, 65535], pitch is in [1, 2^20].
__host__ __device__ size_t element_offset(int row, int column, size_t pitch);

// Adds 1 to every element, on a grid that the caller chooses: at least `width` threads along x and
// `height` threads along y, often more of both.
void increment_on_grid(float* d_data, int height, int width, size_t pitch, dim3 blocks,
                       dim3 threads);

// Adds 1 to every element, with just enough blocks. An empty matrix launches nothing.
void increment_2d(float* d_data, int height, int width, size_t pitch);

// d_out = sqrt(a * a + b * b) for every element, to 4 units in the last place; each matrix has its
// own pitch. An empty matrix launches nothing. The values are 0 or between 1e-18 and 1e18 in
// magnitude, so the squares neither overflow nor underflow.
void hypot_2d(const float* d_a, size_t pitch_a, const float* d_b, size_t pitch_b, float* d_out,
              size_t pitch_out, int height, int width);
