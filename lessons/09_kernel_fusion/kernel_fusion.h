// SPDX-License-Identifier: MIT
// Lesson 09, kernel fusion: what kernel_fusion.cu implements and the test calls.
//
// All functions solve a x^2 + b x + c = 0 for n equations at once: d_root[i] is the root
//
//     (-b + sqrt(b^2 - 4 a c)) / (2 a)
//
// with a = d_a[i] and so on, and NaN where b^2 - 4 a c is negative. No a is 0, and neither b^2 nor
// 4 a c overflows. For n = 0 nothing is launched. The arrays hold n elements of T, float or double,
// in device memory, and do not overlap. A refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// Nine kernels, one for each operation, and eight temporary arrays. Given, for comparison.
template <class T>
void roots_unfused(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n);

// The same formula in one launch, with no temporary arrays.
template <class T>
void roots_fused(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n);

// The same root in one launch, and accurate even where -b and the square root nearly cancel: where
// 4 |a c| <= b * b / 2, to 4 units in the last place.
template <class T>
void roots_stable(const T* d_a, const T* d_b, const T* d_c, T* d_root, int n);
