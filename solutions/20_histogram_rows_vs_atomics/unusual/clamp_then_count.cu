// Unusual: The value is clamped before its bin is worked out, and dropping is decided last; four
// rows are summed at once.
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
    if (x != x) return kNoBin;  // NaN is the one value that differs from itself
    const int last = axis.bins - 1;
    const bool inside = x >= axis.low && x < axis.high;
    if (overflow == Overflow::kDrop && !inside) return kNoBin;
    const float nearest = fminf(fmaxf(x, axis.low), axis.high);
    const int bin = static_cast<int>((nearest - axis.low) * axis.bins / (axis.high - axis.low));
    return bin > last ? last : bin;
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
    unsigned sums[4] = {};
    const unsigned* cell = rows + bin;
    int r = 0;
    for (; r + 4 <= row_count; r += 4) {
        for (unsigned& sum : sums) {
            sum += *cell;
            cell += bins;
        }
    }
    for (; r < row_count; ++r, cell += bins) sums[0] += *cell;
    counts[bin] = counts[bin] + sums[0] + sums[1] + sums[2] + sums[3];
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
    if (bin != kNoBin) atomicAdd(&counts[bin], 1u);
}

void histogram_atomics(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_counts) {
    if (n == 0) return;
    fill_atomics_kernel<<<blocks_for(n), kThreads>>>(d_x, n, axis, overflow, d_counts);
    CUDA_CHECK(cudaGetLastError());
}
