// SPDX-License-Identifier: MIT
// Lesson 08, elementwise functors: what elementwise_functors.cu implements and the test calls.
//
// All arrays are in device memory, row by row. The output does not overlap with an input. T is
// float or double. A refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// An input matrix. It has 1 row or as many as the output, and 1 column or as many as the output:
// along an axis of length 1 it is repeated ("broadcast"). 1 x 1 is a plain number.
template <class T>
struct Matrix {
    const T* d_data;  // rows * columns elements
    int rows, columns;
};

// The output's size. If rows or columns is 0, nothing is launched. rows * columns <= 2^30.
struct Shape {
    int rows, columns;
};

// Each of these functions computes d_out[row * columns + column] for the whole shape in one launch.

// a - b
template <class T>
void subtract(Matrix<T> a, Matrix<T> b, T* d_out, Shape shape);

// a * a + b * b
template <class T>
void sum_of_squares(Matrix<T> a, Matrix<T> b, T* d_out, Shape shape);

// exp(scale * sin(x) + cos(y)), with the accuracy of the device's exp, sin and cos
template <class T>
void saxpy_trig(T scale, Matrix<T> x, Matrix<T> y, T* d_out, Shape shape);

// 1 / (1 + exp(-x)), to 4 units in the last place even where it is small: 0 for very negative x, 1
// for very large x, NaN for NaN. Results below the smallest normal number of T may be 0.
template <class T>
void sigmoid(Matrix<T> x, T* d_out, Shape shape);

// x to the power of n, for any n, with a relative error of at most |n| units in the last place. x
// to the power of 0 is 1 for every x. For n < 0 it is 1 / (x to the power of -n).
template <class T>
void intpow(Matrix<T> x, int n, T* d_out, Shape shape);
