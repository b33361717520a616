// SPDX-License-Identifier: MIT
// Lesson 09, kernel fusion: what kernel_fusion.cu implements and the test calls.
//
// All of them solve a x^2 + b x + c = 0 for n equations at once: d_root[i] is the root
//
//     (-b + sqrt(b^2 - 4 a c)) / (2 a)
//
// with a = d_a[i] and so on, and NaN where b^2 - 4 a c is negative. Every a is different from 0; n
// may be 0. The arrays hold n elements of T, float or double, in device memory, and do not overlap.
// Everything runs in the default stream; a refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// Nine kernels, one for each operation, and eight temporary arrays. Finished, for comparison.
template <class T>
void roots_unfused(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n);

// The same formula in one launch.
template <class T>
void roots_fused(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n);

// One launch, and accurate: where b * b and 4 * a * c do not cancel, the root is good to a few
// units in its last digit, also where -b and the square root nearly cancel.
template <class T>
void roots_stable(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n);
