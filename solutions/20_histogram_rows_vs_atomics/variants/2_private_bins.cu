// Variant: as lesson 21 does it: private bins for each block, and 16 bytes for each load.
// SPDX-License-Identifier: MIT
// Lesson 20, histograms: private rows against one common set of bins, and the edges of the bins.
// Start with README.md in this directory; `make 20` checks this file.
#include "histogram_rows_vs_atomics.h"

static constexpr int kThreads = 256;

// Blocks of kThreads threads for n threads.
static int blocks_for(int n) {
    return (n + kThreads - 1) / kThreads;
}

// The bin of an x of [low, high): floor(a / w), by a multiplication and a correction instead of a
// division. `wide` = 1 / w, rounded. The product is a unit too large or too small at most, and the
// sign of the remainder, which an fma has without rounding, tells.
__device__ int inner_bin(float x, Axis axis, float wide) {
    const float a = (x - axis.low) * axis.bins, w = axis.high - axis.low;
    const float guess = truncf(a * wide);
    const float rest = fmaf(-guess, w, a);
    const int bin = static_cast<int>(guess) + (rest >= w) - (rest < 0);
    return min(bin, axis.bins - 1);  // x - low may round up to high - low
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

// The block of the kernel below: as many threads as a block may have share one set of bins, so that
// two blocks fill a multiprocessor and few bins are merged.
static constexpr int kManyThreads = 1024;
static constexpr int kBlocksEach = 2;  // blocks on each multiprocessor

// On any grid. Each block counts in bins of its own (axis.bins counters of dynamic shared memory)
// and adds them to `counts` once. `x` starts at a multiple of 16 bytes.
__global__ void __launch_bounds__(kManyThreads)
    fill_private_kernel(const float* x, int n, Axis axis, Overflow overflow, unsigned* counts) {
    extern __shared__ unsigned own[];
    for (int b = threadIdx.x; b < axis.bins; b += blockDim.x) own[b] = 0;
    __syncthreads();  // a thread counts in bins that others have cleared
    const float wide = 1 / (axis.high - axis.low);
    const bool finite = wide <= 0x1p126f;  // not so for an axis of less than 10^-38
    const auto count = [&](float value) {
        if (finite && value >= axis.low && value < axis.high) {
            atomicAdd(&own[inner_bin(value, axis, wide)], 1u);
        } else {
            const int bin = bin_index(value, axis, overflow);
            if (bin != kNoBin) atomicAdd(&own[bin], 1u);
        }
    };
    const auto count_all = [&](float4 v) {
        count(v.x);
        count(v.y);
        count(v.z);
        count(v.w);
    };
    const auto* vectors = reinterpret_cast<const float4*>(x);
    const int last = n / 4, step = gridDim.x * blockDim.x;
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    int i = me;
    for (; i < last - step; i += 2 * step) {  // two loads are under way
        const float4 first = vectors[i], second = vectors[i + step];
        count_all(first);
        count_all(second);
    }
    if (i < last) count_all(vectors[i]);
    if (me < n % 4) count(x[4 * last + me]);
    __syncthreads();  // a thread merges bins in which others have counted
    for (int b = threadIdx.x; b < axis.bins; b += blockDim.x) {
        if (own[b] != 0) atomicAdd(&counts[b], own[b]);
    }
}

// One thread for each element: for arrays that do not start at a multiple of 16 bytes.
__global__ void fill_atomics_kernel(const float* x, int n, Axis axis, Overflow overflow,
                                    unsigned* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int bin = bin_index(x[i], axis, overflow);
    if (bin != kNoBin) atomicAdd(&counts[bin], 1u);
}

void histogram_atomics(const float* d_x, int n, Axis axis, Overflow overflow, unsigned* d_counts) {
    if (n == 0) return;
    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int wanted = (n + 4 * kManyThreads - 1) / (4 * kManyThreads);
    const int most = kBlocksEach * multiprocessors, blocks = wanted < most ? wanted : most;
    const size_t bytes = axis.bins * sizeof(unsigned);
    if (reinterpret_cast<size_t>(d_x) % sizeof(float4) == 0) {
        fill_private_kernel<<<blocks, kManyThreads, bytes>>>(d_x, n, axis, overflow, d_counts);
    } else {
        fill_atomics_kernel<<<blocks_for(n), kThreads>>>(d_x, n, axis, overflow, d_counts);
    }
    CUDA_CHECK(cudaGetLastError());
}
