// SPDX-License-Identifier: MIT
// Lesson 20, histograms: what histogram_rows_vs_atomics.cu implements and the test calls.
//
// A d_ prefix marks a pointer to device memory. The arrays of one call do not overlap. Everything
// runs in the default stream. Counts are added to what is in d_counts: the caller sets it to zero
// when it wants to. Each count stays below 2^32. 0 <= n <= 2^30.
#pragma once

#include "cuda_check.h"

// `bins` bins of equal width over [low, high): bin k holds the x with edge(k) <= x < edge(k + 1),
// where edge(k) = low + k * (high - low) / bins. 1 <= bins <= 4096; low < high, and neither is
// larger than 2^100. An x within a few roundings of an inner edge may be counted on either side of
// it. `low` and `high` themselves are exact, and so is an x on an inner edge if x - low and
// (x - low) * bins are floats, as they are on axes with round numbers.
struct Axis {
    int bins;
    float low, high;
};

// What happens to an x below low, or at or above high.
enum class Overflow {
    kDrop,   // it is not counted
    kClamp,  // below low: counted in the first bin; at or above high: in the last
};

// The answer of bin_index for an x that is not counted.
inline constexpr int kNoBin = -1;

// The bin of x, or kNoBin. Infinities are below or above like any other number; a NaN is neither,
// and not counted under either rule.
__host__ __device__ int bin_index(float x, Axis axis, Overflow overflow);

// How many rows, one for each thread, fill_rows fills.
inline constexpr int kRows = 1024;

// Fills kRows histograms that together count each of the n floats of d_x once: d_rows[r * bins + k]
// grows by the number of elements of bin k that thread r looked at. d_rows: kRows * bins counters.
void fill_rows(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_rows);

// d_counts[k] += d_rows[r * bins + k], summed over the r in [0, rows), for each k in [0, bins).
// d_rows: rows * bins counters, unchanged; d_counts: bins counters; rows >= 1, bins >= 1.
void add_rows(const unsigned* d_rows, int rows, int bins, unsigned* d_counts);

// Adds the histogram of the n floats of d_x to d_counts (axis.bins counters) by rows. d_rows: room
// for kRows * axis.bins counters, which may hold anything.
void histogram_rows(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_rows,
                    unsigned* d_counts);

// The same with one common set of bins and atomics.
void histogram_atomics(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_counts);
