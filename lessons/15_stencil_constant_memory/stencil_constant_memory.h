// SPDX-License-Identifier: MIT
// Lesson 15, stencils: what stencil_constant_memory.cu implements and the test calls.
//
// Pointers with the prefix d_ point to device memory, others to host memory. All arrays of data
// have n floats, 0 <= n <= 2^30, and the arrays of one call do not overlap. For n = 0 nothing is
// launched. `threads` is the block size, from 1 to 1024, and need not be a multiple of 32; a halo
// may be wider than a block. A CUDA call or a launch that fails throws wb::CudaError.
#pragma once

#include "cuda_check.h"

inline constexpr int kMaxWindow = 1024;
inline constexpr int kMaxRadius = 64;

// d_out[i] = the mean of the last `window` elements of d_in up to and including i, or of as many as
// there are: the window of element 0 holds one element. 1 <= window <= kMaxWindow.
// Loaded from global memory: at most threads + window - 1 floats for each block.
void moving_average(const float* d_in, float* d_out, int n, int window, int threads);

// The values used for the elements before the first and after the last.
enum class Border {
    kClamp,  // the nearest element that exists
    kZero,   // 0
};

// Sets the weights of all stencils that are launched from now on: weights[0] to
// weights[2 * radius], 0 <= radius <= kMaxRadius. `weights` may be changed or freed afterwards.
void set_weights(const float* weights, int radius);

// d_out[k] = weight k, as kernels see it, for k in [0, count). 1 <= count <= 2 * kMaxRadius + 1.
void read_weights(float* d_out, int count);

// d_out[i] = the sum of weight[radius + k] * d_in[i + k] over k in [-radius, radius], with the
// weights that were set last and the given border. n may be smaller than radius.
// Loaded from global memory: at most threads + 2 * radius floats for each block, and no weights.
void stencil(const float* d_in, float* d_out, int n, int radius, Border border, int threads);

// Applies the stencil `steps` times to the data in d_a, steps >= 0. d_b has room for n floats.
// Returns the array that holds the result, d_a or d_b; the values in the other one do not matter.
// The data are not copied.
float* repeat_stencil(float* d_a, float* d_b, int n, int radius, Border border, int threads,
                      int steps);
