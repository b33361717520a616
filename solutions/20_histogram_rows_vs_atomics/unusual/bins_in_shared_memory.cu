// Unusual: Each block counts in shared memory first and adds its bins to the common ones (lesson
// 21).
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
    if (x < axis.low) return overflow == Overflow::kClamp ? 0 : kNoBin;
    if (x >= axis.high) return overflow == Overflow::kClamp ? last : kNoBin;
    const int bin = static_cast<int>((x - axis.low) * axis.bins / (axis.high - axis.low));
    return bin < last ? bin : last;  // x - low may round up to high - low
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
    extern __shared__ unsigned tile[];
    for (int k = threadIdx.x; k < axis.bins; k += blockDim.x) tile[k] = 0;
    __syncthreads();
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const int bin = bin_index(x[i], axis, overflow);
        if (bin != kNoBin) atomicAdd(&tile[bin], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < axis.bins; k += blockDim.x) {
        if (tile[k] > 0) atomicAdd(&counts[k], tile[k]);
    }
}

void histogram_atomics(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_counts) {
    if (n == 0) return;
    const int blocks = blocks_for(n) < 16 ? blocks_for(n) : 16;
    const size_t tile_bytes = axis.bins * sizeof(unsigned);
    fill_atomics_kernel<<<blocks, kThreads, tile_bytes>>>(d_x, n, axis, overflow, d_counts);
    CUDA_CHECK(cudaGetLastError());
}
