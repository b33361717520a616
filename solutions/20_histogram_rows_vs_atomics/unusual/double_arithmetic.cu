// Unusual: Bins in double with floor, isnan, negated comparisons, and atomicInc with the largest
// limit.
// SPDX-License-Identifier: MIT
// Lesson 20, histograms: private rows against one common set of bins, and the edges of the bins.
// Start with README.md in this directory; `make 20` checks this file.
#include "histogram_rows_vs_atomics.h"

#include <cmath>

static constexpr int kThreads = 256;

// Blocks of kThreads threads for n threads.
static int blocks_for(int n) {
    return (n + kThreads - 1) / kThreads;
}

__host__ __device__ int bin_index([[maybe_unused]] float x, [[maybe_unused]] Axis axis,
                                  [[maybe_unused]] Overflow overflow) {
    if (std::isnan(x)) return kNoBin;
    const int last = axis.bins - 1;
    if (!(x >= axis.low)) return overflow == Overflow::kDrop ? kNoBin : 0;
    if (!(x < axis.high)) return overflow == Overflow::kDrop ? kNoBin : last;
    const double place = (double(x) - axis.low) * axis.bins / (double(axis.high) - axis.low);
    return static_cast<int>(std::floor(place));
}

// Launched with exactly kRows threads, whatever n is. No row has two owners: no atomics.
__global__ void fill_rows_kernel(const float* x, int n, Axis axis, Overflow overflow,
                                 unsigned* rows) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned* row = rows + static_cast<size_t>(me) * axis.bins;
    for (int i = me; i < n; i += kRows) {
        const int bin = bin_index(x[i], axis, overflow);
        if (bin != kNoBin) ++row[bin];
    }
}

void fill_rows(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_rows) {
    fill_rows_kernel<<<kRows / kThreads, kThreads>>>(d_x, n, axis, overflow, d_rows);
    CUDA_CHECK(cudaGetLastError());
}

// At least one thread for each bin.
__global__ void add_rows_kernel(const unsigned* rows, int row_count, int bins, unsigned* counts) {
    const int bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin >= bins) return;
    unsigned sum = 0;
    for (int r = 0; r < row_count; ++r) sum += rows[static_cast<size_t>(r) * bins + bin];
    counts[bin] += sum;
}

void add_rows(const unsigned* d_rows, int rows, int bins, unsigned* d_counts) {
    add_rows_kernel<<<blocks_for(bins), kThreads>>>(d_rows, rows, bins, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

void histogram_rows(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_rows,
                    [[maybe_unused]] unsigned* d_counts) {
    CUDA_CHECK(cudaMemset(d_rows, 0, sizeof(unsigned) * kRows * axis.bins));
    fill_rows(d_x, n, axis, overflow, d_rows);
    add_rows(d_rows, kRows, axis.bins, d_counts);
}

// One thread for each element.
__global__ void fill_atomics_kernel(const float* x, int n, Axis axis, Overflow overflow,
                                    unsigned* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int bin = bin_index(x[i], axis, overflow);
    if (bin != kNoBin) atomicInc(&counts[bin], 0xFFFFFFFFu);
}

void histogram_atomics(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_counts) {
    if (n == 0) return;
    fill_atomics_kernel<<<blocks_for(n), kThreads>>>(d_x, n, axis, overflow, d_counts);
    CUDA_CHECK(cudaGetLastError());
}
