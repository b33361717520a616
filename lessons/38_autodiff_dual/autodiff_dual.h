// SPDX-License-Identifier: MIT
// Lesson 38, dual numbers: what autodiff_dual.cu implements and the test calls.
//
// All computations are in float, on the host and on the device. Let u = 2^-24. The bounds on errors
// below hold if the magnitudes of operands, results and the terms of each rule are 0 or between
// 1e-24 and 1e24. If the value of an operand is NaN, the result is NaN.
#pragma once

#include <cmath>

#include "cuda_check.h"

// A value together with its derivatives by N variables. T is float or a dual number. If T is a dual
// number, the tangents have tangents, which are the second derivatives.
template <class T, int N>
struct Dual {
    T value;
    T tangent[N];  // tangent[k]: the derivative of the value by variable k

    Dual() = default;  // uninitialised, like a float
    // A constant: it does not change with any variable.
    __host__ __device__ Dual(float constant) : value(constant) {
        for (int k = 0; k < N; ++k) tangent[k] = 0.0f;
    }

    // In an operation with a dual number, a float is a constant. The operators for two dual numbers
    // are below.
    friend __host__ __device__ Dual operator-(const Dual& a) { return Dual(0.0f) - a; }
    friend __host__ __device__ Dual operator+(float a, const Dual& b) { return Dual(a) + b; }
    friend __host__ __device__ Dual operator-(float a, const Dual& b) { return Dual(a) - b; }
    friend __host__ __device__ Dual operator*(float a, const Dual& b) { return Dual(a) * b; }
    friend __host__ __device__ Dual operator/(float a, const Dual& b) { return Dual(a) / b; }
    friend __host__ __device__ Dual operator+(const Dual& a, float b) { return a + Dual(b); }
    friend __host__ __device__ Dual operator-(const Dual& a, float b) { return a - Dual(b); }
    friend __host__ __device__ Dual operator*(const Dual& a, float b) { return a * Dual(b); }
    friend __host__ __device__ Dual operator/(const Dual& a, float b) { return a / Dual(b); }
};

using Dual1 = Dual<float, 1>;
using Dual2 = Dual<float, 2>;
using Second2 = Dual<Dual2, 2>;  // f, its gradient and its second derivatives by two variables

// Variable k of N, 0 <= k < N: its derivative by variable k is 1, by all others 0.
template <int N, class T>
__host__ __device__ Dual<T, N> variable(const T& value, int k);

template <class T, int N>
__host__ __device__ Dual<T, N> operator+(const Dual<T, N>& a, const Dual<T, N>& b);
template <class T, int N>
__host__ __device__ Dual<T, N> operator-(const Dual<T, N>& a, const Dual<T, N>& b);

// Errors of the tangents: at most 4 u times |a b'| + |a' b| for a product, and 8 u times
// (|a'| + |a b' / b|) / |b| for a quotient, b != 0. a, b and their tangents may all be 1e-24, or
// all 1e24: then b b and a' b are 0 or infinite in float, but the quotient is not.
template <class T, int N>
__host__ __device__ Dual<T, N> operator*(const Dual<T, N>& a, const Dual<T, N>& b);
template <class T, int N>
__host__ __device__ Dual<T, N> operator/(const Dual<T, N>& a, const Dual<T, N>& b);

// Values and tangents have a relative error of at most 24 u. For sin and cos, |a| <= 1000. The
// tangents of tanh have an error of at most 24 u times |a'|. tanh is defined for infinities, where
// its slope is 0. sqrt(0) has an infinite slope: tangents other than 0 become infinite.
template <class T, int N>
__host__ __device__ Dual<T, N> exp(const Dual<T, N>& a);
template <class T, int N>
__host__ __device__ Dual<T, N> sqrt(const Dual<T, N>& a);
template <class T, int N>
__host__ __device__ Dual<T, N> sin(const Dual<T, N>& a);
template <class T, int N>
__host__ __device__ Dual<T, N> cos(const Dual<T, N>& a);
template <class T, int N>
__host__ __device__ Dual<T, N> tanh(const Dual<T, N>& a);
// a to the power of a constant, |exponent| <= 8. a may be 0 or negative if the power and its slope
// are defined there: negative with a whole exponent, 0 with the exponent 0 or an exponent of 1 or
// above. a^0 is 1.
template <class T, int N>
__host__ __device__ Dual<T, N> pow(const Dual<T, N>& a, float exponent);

// Functions of two variables, for any type of number that has the operators.
struct Quadratic {
    template <class T>
    __host__ __device__ T operator()(const T& x, const T& y) const {
        return x * x + 3.0f * x * y + 5.0f * y * y;
    }
};

// A bent valley; its lowest point is (1, 1).
struct Rosenbrock {
    template <class T>
    __host__ __device__ T operator()(const T& x, const T& y) const {
        const T a = 1.0f - x, b = y - x * x;
        return a * a + 100.0f * b * b;
    }
};

struct Waves {
    template <class T>
    __host__ __device__ T operator()(const T& x, const T& y) const {
        return sin(x) * exp(-0.25f * y * y) + tanh(x * y) / sqrt(1.0f + x * x) +
               0.5f * cos(y) * pow(x, 3.0f);
    }
};

// Waves far from the origin: the errors of f and of its derivatives come from sin and cos.
struct Ripples {
    template <class T>
    __host__ __device__ T operator()(const T& x, const T& y) const {
        return sin(x) * cos(y);
    }
};

// All arrays are in device memory, with n elements each, and do not overlap. For n = 0, launches
// nothing. A refused launch throws wb::CudaError. f is one of the four functions above. Points have
// |x|, |y| <= 3, or <= 1000 with Ripples. A point may be NaN, which does not change the results of
// other points.

// d_f[i], d_dx[i] and d_dy[i]: f and its derivatives by x and y at (d_x[i], d_y[i]). One launch.
template <class F>
void gradients(F f, const float* d_x, const float* d_y, float* d_f, float* d_dx, float* d_dy,
               int n);

// Gradient descent from each of the n points: `steps` times (0 to 10,000), x becomes
// x - rate * df/dx and y becomes y - rate * df/dy, both with the derivatives at the old point.
// d_x and d_y are updated in place. One launch for all steps.
template <class F>
void descend(F f, float* d_x, float* d_y, int n, int steps, float rate);

// The second derivatives of f: by x twice, by x and y, by y twice. One launch.
template <class F>
void second_derivatives(F f, const float* d_x, const float* d_y, float* d_xx, float* d_xy,
                        float* d_yy, int n);

// A small network: y(x) = c + the sum of w[j] tanh(a[j] x + b[j]) over j in [0, units), with the
// three arrays in device memory and units 0 to 1024.
struct Net {
    const float *d_a, *d_b, *d_w;
    int units;
    float c;
};

// The error of the network as a solution of dy/dx = -y: d_residual[i] = dy/dx + y at d_x[i]. One
// launch.
void residuals(Net net, const float* d_x, float* d_residual, int n);
