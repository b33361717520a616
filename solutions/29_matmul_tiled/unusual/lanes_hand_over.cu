// Unusual: The lanes of a warp keep rows of A in registers and hand each other the elements by
// shuffles; only B goes through shared memory.
// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: each float that is loaded is used for many elements, first in shared
// memory and then in registers.
// Start with README.md in this directory; `make 29` checks this file.
#include "matmul_tiled.h"

namespace {

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;

__global__ void rows_of_warps(const float* a, const float* b, float* c, Sizes s) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * kLanes + threadIdx.x;
    if (row >= s.m || col >= s.n) return;
    const float* left = a + size_t(row) * s.a_pitch;
    const float* right = b + col;
    float sum = 0;
    for (int p = 0; p < s.k; ++p, right += s.b_pitch) sum += left[p] * *right;
    c[size_t(row) * s.c_pitch + col] = sum;
}

// Each of 8 warps makes kRows rows of C, and each lane kCols elements of them, 32 apart.
template <int kRows, int kCols>
__global__ void rows_in_lanes(const float* a, const float* b, float* c, Sizes s) {
    __shared__ float of_b[kLanes][kCols * kLanes];
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int top = (blockIdx.y * 8 + warp) * kRows, left = blockIdx.x * kCols * kLanes;
    float sums[kRows][kCols] = {};
    for (int first = 0; first < s.k; first += kLanes) {
        float of_a[kRows];
        for (int r = 0; r < kRows; ++r) {
            const bool there = top + r < s.m && first + lane < s.k;
            of_a[r] = there ? a[size_t(top + r) * s.a_pitch + first + lane] : 0.0f;
        }
        for (int p = warp; p < kLanes; p += 8) {
            for (int j = 0; j < kCols; ++j) {
                const int col = left + j * kLanes + lane;
                const bool there = first + p < s.k && col < s.n;
                of_b[p][j * kLanes + lane] = there ? b[size_t(first + p) * s.b_pitch + col] : 0.0f;
            }
        }
        __syncthreads();
        for (int p = 0; p < kLanes; ++p) {
            float right[kCols];
            for (int j = 0; j < kCols; ++j) right[j] = of_b[p][j * kLanes + lane];
            for (int r = 0; r < kRows; ++r) {
                const float one = __shfl_sync(kAllLanes, of_a[r], p);
                for (int j = 0; j < kCols; ++j) sums[r][j] += one * right[j];
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < kRows; ++r) {
        for (int j = 0; j < kCols; ++j) {
            const int col = left + j * kLanes + lane;
            if (top + r < s.m && col < s.n) c[size_t(top + r) * s.c_pitch + col] = sums[r][j];
        }
    }
}

template <int kRows, int kCols>
void launch(const float* d_a, const float* d_b, float* d_c, const Sizes& s) {
    if (s.m == 0 || s.n == 0) return;
    const int down = 8 * kRows, across = kCols * kLanes;
    const dim3 blocks((s.n + across - 1) / across, (s.m + down - 1) / down);
    rows_in_lanes<kRows, kCols><<<blocks, dim3(kLanes, 8)>>>(d_a, d_b, d_c, s);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void matmul_naive(const float* d_a, const float* d_b, float* d_c, Sizes s) {
    if (s.m == 0 || s.n == 0) return;
    rows_of_warps<<<dim3((s.n + 31) / 32, (s.m + 7) / 8), dim3(32, 8)>>>(d_a, d_b, d_c, s);
    CUDA_CHECK(cudaGetLastError());
}

long long floats_loaded(int m, int n, int k, int tile) {
    const auto times = [tile](int size) {
        return (static_cast<long long>(size) - 1 + tile) / tile;
    };
    return times(n) * m * k + times(m) * n * k;
}

void matmul_tiled(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    launch<4, 1>(d_a, d_b, d_c, sizes);
}

void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    launch<8, 2>(d_a, d_b, d_c, sizes);
}
