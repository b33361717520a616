// SPDX-License-Identifier: MIT
// Lesson 08, elementwise functors: what elementwise_functors.cu implements and the test calls.
//
// All arrays are row by row, in device memory, and the arrays of one call do not overlap. T is
// float or double. Everything runs in the default stream; a refused launch throws wb::CudaError.
#pragma once

#include "cuda_check.h"

// A matrix that is only read. Its rows are 1 or those of the output, and its columns are 1 or those
// of the output: along an axis of length 1 it is repeated ("broadcast"). 1 x 1 is a plain number.
template <class T>
struct Matrix {
    const T* d_data;  // rows * columns elements
    int rows, columns;
};

// The output's size. rows and columns may be 0: then nothing is launched. rows * columns < 2^40.
struct Shape {
    int rows, columns;
};

// Each of these sets d_out[row * columns + column] for the whole shape, in one launch.

// a - b
template <class T>
void subtract(Matrix<T> a, Matrix<T> b, T* d_out, Shape shape);

// a * a + b * b
template <class T>
void sum_of_squares(Matrix<T> a, Matrix<T> b, T* d_out, Shape shape);

// exp(scale * sin(x) + cos(y))
template <class T>
void saxpy_trig(T scale, Matrix<T> x, Matrix<T> y, T* d_out, Shape shape);

// 1 / (1 + exp(-x)), good to a few units in the last digit, also where it is small: 0 for very
// negative x, 1 for very large x, NaN for NaN. Results below the smallest normal number of T may be
// 0.
template <class T>
void sigmoid(Matrix<T> x, T* d_out, Shape shape);

// x to the power of n, by repeated multiplication; any n, and x to the power of 0 is 1 for every x.
// For n < 0 it is 1 / (x to the power of -n).
template <class T>
void intpow(Matrix<T> x, int n, T* d_out, Shape shape);
