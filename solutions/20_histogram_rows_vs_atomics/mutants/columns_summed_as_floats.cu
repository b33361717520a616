// Mutant: a column is summed as a float, which cannot count beyond 2^24.
// verdict: fails "task 3: adds the rows, column by column"
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
    if (x < axis.low) {
        if (overflow == Overflow::kDrop) return kNoBin;
        return 0;
    }
    if (x >= axis.high) {
        if (overflow == Overflow::kDrop) return kNoBin;
        return axis.bins - 1;
    }
    int bin = (int)((x - axis.low) * axis.bins / (axis.high - axis.low));
    if (bin > axis.bins - 1) bin = axis.bins - 1;
    return bin;
}

// Launched with exactly kRows threads, whatever n is. No row has two owners: no atomics.
__global__ void fill_rows_kernel(const float* x, int n, Axis axis, Overflow overflow,
                                 unsigned* rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = t; i < n; i += kRows) {
        int bin = bin_index(x[i], axis, overflow);
        if (bin != kNoBin) rows[t * axis.bins + bin]++;
    }
}

void fill_rows(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_rows) {
    fill_rows_kernel<<<kRows / kThreads, kThreads>>>(d_x, n, axis, overflow, d_rows);
    CUDA_CHECK(cudaGetLastError());
}

// At least one thread for each bin.
__global__ void add_rows_kernel(const unsigned* rows, int row_count, int bins, unsigned* counts) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < bins) {
        float sum = 0;
        for (int r = 0; r < row_count; r++) sum += rows[r * bins + k];
        counts[k] += sum;
    }
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
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int bin = bin_index(x[i], axis, overflow);
        if (bin != kNoBin) atomicAdd(&counts[bin], 1u);
    }
}

void histogram_atomics(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_counts) {
    if (n == 0) return;
    fill_atomics_kernel<<<blocks_for(n), kThreads>>>(d_x, n, axis, overflow, d_counts);
    CUDA_CHECK(cudaGetLastError());
}
