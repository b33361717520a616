// Unusual: The bin is found by halving the axis, with edges in double; equal bins of a warp add
// together.
// SPDX-License-Identifier: MIT
// Lesson 20, histograms: private rows against one common set of bins, and the edges of the bins.
// Start with README.md in this directory; `make 20` checks this file.
#include "histogram_rows_vs_atomics.h"

static constexpr int kThreads = 256;

// Blocks of kThreads threads for n threads.
static int blocks_for(int n) {
    return (n + kThreads - 1) / kThreads;
}

__host__ __device__ int bin_index([[maybe_unused]] float x, [[maybe_unused]] Axis axis,
                                  [[maybe_unused]] Overflow overflow) {
    if (x != x) return kNoBin;
    if (overflow == Overflow::kClamp) x = x < axis.low ? axis.low : x;
    if (x < axis.low) return kNoBin;
    if (x >= axis.high) return overflow == Overflow::kDrop ? kNoBin : axis.bins - 1;
    int lo = 0, hi = axis.bins;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        const double edge = axis.low + double(mid) * (double(axis.high) - axis.low) / axis.bins;
        if (x >= edge)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

// Launched with exactly kRows threads, whatever n is. No row has two owners: no atomics.
__global__ void fill_rows_kernel(const float* x, int n, Axis axis, Overflow overflow,
                                 unsigned* rows) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned* row = rows + me * axis.bins;
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
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bins) return;
    unsigned sum = 0;
    for (int r = 0; r < row_count; ++r) sum += rows[size_t(r) * bins + b];
    counts[b] += sum;
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
    const int bin = i < n ? bin_index(x[i], axis, overflow) : kNoBin;
    const unsigned same = __match_any_sync(0xFFFFFFFFu, bin);
    if (bin >= 0 && unsigned(__ffs(same) - 1) == threadIdx.x % 32)
        atomicAdd(&counts[bin], unsigned(__popc(same)));
}

void histogram_atomics(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_counts) {
    if (n == 0) return;
    fill_atomics_kernel<<<blocks_for(n), kThreads>>>(d_x, n, axis, overflow, d_counts);
    CUDA_CHECK(cudaGetLastError());
}
