// SPDX-License-Identifier: MIT
// Lesson 12, divergence: what divergence_mandelbrot.cu implements and the test calls.
#pragma once

#include "cuda_check.h"

// How many steps are taken at most.
inline constexpr int kMostSteps = 20;

// Lanes of a warp on every NVIDIA card so far. On the host there is nothing to ask; kernels have
// `warpSize`.
inline constexpr int kWarp = 32;

// z starts at c. Step k, for k = 0, 1, 2, ...: z becomes z * z + c; if |z|^2 > 4 after that, the
// answer is k. If it never happens in kMostSteps steps, the answer is kMostSteps. c is cr + i ci,
// everything is computed in T, float or double.
template <class T>
__host__ __device__ int escape_time(T cr, T ci);

// d_pixels[row * pitch + column] = escape_time of the pixel's c, for every row in [0, height) and
// column in [0, width). The grid includes both ends: ci goes from -1 in row 0 to 0 in row height -
// 1 in equal steps, and cr from -1.5 in column 0 to 0 in column width - 1. A single row has ci =
// -1, a single column cr = -1.5. d_pixels: height * pitch ints in device memory; pitch >= width,
// and what lies between the rows stays as it is. 1 <= height <= 2^19, 1 <= width. One launch in the
// default stream; a refused launch throws wb::CudaError.
template <class T>
void mandelbrot(int* d_pixels, int height, int width, int pitch);

// How busy the lanes are: trips[i] is how often thread i goes round its loop, and each kWarp
// threads in a row are a warp. A warp goes round as often as its slowest lane, and each trip costs
// all lanes. Returns the trips that were wanted, divided by the lane-trips that were paid; 1 when
// there are none. In the last warp some lanes may be missing: they are paid for like idle ones.
// Runs on the host; trips: n ints, 0 or more each.
double simt_efficiency(const int* trips, long long n);
