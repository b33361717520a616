// Unusual: A block has two halves: each sums half of the products of every element, and one hands
// its sums to the other through shared memory.
// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: each float that is loaded is used for many elements, first in shared
// memory and then in registers.
// Start with README.md in this directory; `make 29` checks this file.
#include "matmul_tiled.h"

namespace {

// Zero outside of the matrix.
__device__ float element(const float* x, int row, int col, int rows, int cols, int pitch) {
    return row < rows && col < cols ? x[static_cast<size_t>(row) * pitch + col] : 0.0f;
}

__global__ void one_column_after_the_other(const float* a, const float* b, float* c, Sizes s) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (col >= s.n) return;
    for (int r = row; r < s.m; r += gridDim.y) {
        float even = 0, odd = 0;
        int p = 0;
        for (; p + 1 < s.k; p += 2) {
            even += a[size_t(r) * s.a_pitch + p] * b[size_t(p) * s.b_pitch + col];
            odd += a[size_t(r) * s.a_pitch + p + 1] * b[size_t(p + 1) * s.b_pitch + col];
        }
        if (p < s.k) even += a[size_t(r) * s.a_pitch + p] * b[size_t(p) * s.b_pitch + col];
        c[size_t(r) * s.c_pitch + col] = even + odd;
    }
}

// Blocks of kThreads x kThreads x 2: half z takes the columns of A from z * kDeep / 2 on.
template <int kSide, int kDeep, int kEach>
__global__ void in_two_halves(const float* a, const float* b, float* c, Sizes s) {
    constexpr int kThreads = kSide / kEach, kAll = 2 * kThreads * kThreads;
    constexpr int kLong = kDeep == 32 ? 33 : kDeep;  // a row of the slab of A
    __shared__ float of_a[kSide * kLong];
    __shared__ float of_b[kDeep * kSide];
    __shared__ float handed[kEach * kEach][kThreads * kThreads];
    const int x = threadIdx.x, y = threadIdx.y, half = threadIdx.z;
    const int thread = (half * kThreads + y) * kThreads + x;
    const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;
    float sums[kEach * kEach] = {};
    for (int first = 0; first < s.k; first += kDeep) {
        for (int i = thread; i < kSide * kDeep; i += kAll) {
            of_a[i / kDeep * kLong + i % kDeep] =
                element(a, top + i / kDeep, first + i % kDeep, s.m, s.k, s.a_pitch);
            of_b[i] = element(b, first + i / kSide, left + i % kSide, s.k, s.n, s.b_pitch);
        }
        __syncthreads();
        for (int p = half * (kDeep / 2); p < (half + 1) * (kDeep / 2); ++p) {
            for (int i = 0; i < kEach; ++i) {
                for (int j = 0; j < kEach; ++j) {
                    sums[i * kEach + j] +=
                        of_a[(y + i * kThreads) * kLong + p] * of_b[p * kSide + x + j * kThreads];
                }
            }
        }
        __syncthreads();  // the next slab overwrites the slots that are read above
    }
    for (int e = 0; e < kEach * kEach; ++e) {
        if (half == 1) handed[e][y * kThreads + x] = sums[e];
    }
    __syncthreads();
    for (int e = 0; e < kEach * kEach; ++e) {
        const int row = top + y + e / kEach * kThreads, col = left + x + e % kEach * kThreads;
        if (half == 0 && row < s.m && col < s.n) {
            c[static_cast<size_t>(row) * s.c_pitch + col] = sums[e] + handed[e][y * kThreads + x];
        }
    }
}

template <int kSide, int kDeep, int kEach>
void launch(const float* d_a, const float* d_b, float* d_c, const Sizes& s) {
    if (s.m == 0 || s.n == 0) return;
    const dim3 blocks((s.n + kSide - 1) / kSide, (s.m + kSide - 1) / kSide);
    const dim3 threads(kSide / kEach, kSide / kEach, 2);
    in_two_halves<kSide, kDeep, kEach><<<blocks, threads>>>(d_a, d_b, d_c, s);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void matmul_naive(const float* d_a, const float* d_b, float* d_c, Sizes s) {
    if (s.m == 0 || s.n == 0) return;
    const dim3 blocks((s.n + 127) / 128, s.m < 40000 ? s.m : 40000);
    one_column_after_the_other<<<blocks, 128>>>(d_a, d_b, d_c, s);
    CUDA_CHECK(cudaGetLastError());
}

long long floats_loaded(int m, int n, int k, int tile) {
    const int below = m % tile, right = n % tile;  // of the tiles at the edges, if there are any
    const long long down = m / tile + (below > 0), across = n / tile + (right > 0);
    return k * (down * n + across * m);
}

// 32 x 32 elements by 2 x 16 x 16 threads.
void matmul_tiled(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    launch<32, 32, 2>(d_a, d_b, d_c, sizes);
}

void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    launch<64, 16, 4>(d_a, d_b, d_c, sizes);
}
