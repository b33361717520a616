// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what cpu_baseline.cu implements and the test calls.
//
// Everything here runs on the host. Arrays are in host memory. n may be 0.
#pragma once

#include <cstddef>

// The number of sums that a loop keeps side by side. 8 floats fill one or two vector registers.
inline constexpr size_t kLanes = 8;

// The sum of x[i] * x[i], by kLanes sums: element i belongs to sum i % kLanes. The sums are added
// at the end. The n % kLanes elements after the last whole group may have a sum of their own.
float sum_squares(const float* x, size_t n);

// The sum of x[i] * y[i], in the same way.
float dot(const float* x, const float* y, size_t n);

// The elements [begin, end).
struct Range {
    size_t begin, end;
};

// Part `index` of [0, n) when it is divided into `parts` contiguous parts, in order: together they
// hold each element once, and no two lengths differ by more than 1. index < parts, parts >= 1;
// there may be more parts than elements. n <= 2^40, parts <= 2^20.
Range part(size_t n, size_t parts, size_t index);

// The same sum as dot, by `threads` threads that can work at the same time, possibly including the
// calling one: each sums one part in memory of its own, and the sums of the parts are added at the
// end. No thread is left running. 1 <= threads <= 1024.
float parallel_dot(const float* x, const float* y, size_t n, unsigned threads);

// Whether `sum`, a sum of n floats in any order, agrees with `reference`, the same sum without
// rounding: the difference is at most n * 2^-24 * magnitude, where `magnitude` is the sum of the
// absolute values. NaN agrees with nothing.
bool agree(float sum, double reference, double magnitude, size_t n);
