// SPDX-License-Identifier: MIT
// Lesson 20, histograms: what histogram_rows_vs_atomics.cu implements and the test calls.
//
// Pointers with the prefix d_ point to device memory. The arrays of one call do not overlap. d_x
// holds n floats, 0 <= n <= 2^30, which do not change. Counts are added to d_counts, which the
// caller clears when it wants to. Each count stays below 2^32.
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

// The number of rows that fill_rows fills, one for each thread.
inline constexpr int kRows = 1024;

// Adds to kRows histograms that together count each of the n floats of d_x once, without atomics:
// d_rows[r * bins + k] grows by the number of elements of bin k that thread r took. d_rows: kRows *
// bins counters.
void fill_rows(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_rows);

// d_counts[k] += the sum of d_rows[r * bins + k] over r in [0, rows), for each k in [0, bins).
// d_rows: rows * bins counters, which do not change; d_counts: bins counters; rows >= 1, bins >= 1,
// rows * bins <= 2^30.
// One thread for each bin.
void add_rows(const unsigned* d_rows, int rows, int bins, unsigned* d_counts);

// Adds the histogram of the n floats of d_x to d_counts (axis.bins counters) by rows. d_rows has
// room for kRows * axis.bins counters; their values do not matter.
void histogram_rows(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_rows,
                    unsigned* d_counts);

// The same with one common set of bins and atomics.
void histogram_atomics(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_counts);
