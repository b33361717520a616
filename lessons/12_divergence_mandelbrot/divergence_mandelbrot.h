// SPDX-License-Identifier: MIT
// Lesson 12, divergence: what divergence_mandelbrot.cu implements and the test calls.
#pragma once

#include "cuda_check.h"

// The largest number of steps.
inline constexpr int kMostSteps = 20;

// Lanes of a warp on every NVIDIA card so far. (Kernels have `warpSize`, which the host has not.)
inline constexpr int kWarp = 32;

// z starts at c. Step k, for k = 0, 1, 2, ...: z becomes z * z + c; if |z|^2 > 4 after that, the
// answer is k. If it never happens in kMostSteps steps, the answer is kMostSteps. c is cr + i ci.
// Everything is computed in T, float or double.
template <class T>
__host__ __device__ int escape_time(T cr, T ci);

// d_pixels[row * pitch + column] = escape_time of the pixel's c, for every row in [0, height) and
// column in [0, width). The grid includes both ends: ci goes from -1 in row 0 to 0 in row height -
// 1 in equal steps, and cr from -1.5 in column 0 to 0 in column width - 1. A single row has ci =
// -1, a single column cr = -1.5. d_pixels: height * pitch ints in device memory; pitch >= width,
// and the elements after the picture's columns stay as they are. 1 <= height <= 65,535,
// 1 <= width <= 65,536. Rounding may change pixels whose |z|^2 comes within 1e-9 of 4; in float, 1
// in 100,000 at most. One launch; a refused launch throws wb::CudaError.
template <class T>
void mandelbrot(int* d_pixels, int height, int width, int pitch);

// How busy the lanes are: trips[i] is the number of iterations of thread i, and each kWarp threads
// in a row are a warp. A warp makes as many iterations as its slowest lane, and each costs all
// kWarp lanes. Returns the iterations wanted, divided by the lane-iterations paid; 1 when none are
// paid. Lanes that are missing in the last warp are paid for like idle ones. Runs on the host;
// trips: n ints, each 0 or more.
double simt_efficiency(const int* trips, long long n);
