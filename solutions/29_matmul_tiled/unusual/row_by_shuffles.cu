// Unusual: A row of a tile of A stays in the registers of its warp, and shuffles pass it on.
// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: each float that is loaded is used for many elements, first in shared
// memory and then in registers.
// Start with README.md in this directory; `make 29` checks this file.
#include "matmul_tiled.h"

// Task 4: a block makes kWide x kWide elements of C, kEach x kEach by each of its kSide x kSide
// threads. A slab is what it loads at a time: kDeep columns of A, kDeep rows of B.
static constexpr int kWide = 64;
[[maybe_unused]] static constexpr int kDeep = 16;
[[maybe_unused]] static constexpr int kEach = 4;
static constexpr int kSide = 16;

// One block for each tile of C, along x its columns.
static dim3 tiles_of(Sizes sizes, int tile) {
    return dim3((sizes.n + tile - 1) / tile, (sizes.m + tile - 1) / tile);
}

// Where element (row, col) lies. The product may need more than 31 bits.
__device__ size_t offset(int row, int col, int pitch) {
    return static_cast<size_t>(row) * pitch + col;
}

// Launched with kTile x kTile threads for each tile of C.
__global__ void matmul_naive_kernel(const float* a, const float* b, float* c, Sizes s) {
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int col = blockIdx.x * kTile + threadIdx.x;
    if (row >= s.m || col >= s.n) return;
    float sum = 0;
    for (int p = 0; p < s.k; ++p) {
        sum += a[offset(row, p, s.a_pitch)] * b[offset(p, col, s.b_pitch)];
    }
    c[offset(row, col, s.c_pitch)] = sum;
}

void matmul_naive(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    matmul_naive_kernel<<<tiles_of(sizes, kTile), dim3(kTile, kTile)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}

long long floats_loaded([[maybe_unused]] int m, [[maybe_unused]] int n, [[maybe_unused]] int k,
                        [[maybe_unused]] int tile) {
    const long long tiles_down = (m + tile - 1) / tile;
    const long long tiles_across = (n + tile - 1) / tile;
    return k * (m * tiles_across + n * tiles_down);
}

// Launched with kTile x kTile threads for each tile of C.
__global__ void matmul_tiled_kernel(const float* a, const float* b, float* c, Sizes s) {
    __shared__ float b_tile[kTile][kTile];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * kTile + y;
    const int col = blockIdx.x * kTile + x;
    float sum = 0;
    for (int first = 0; first < s.k; first += kTile) {
        const bool in_a = row < s.m && first + x < s.k;
        const bool in_b = first + y < s.k && col < s.n;
        const float from_a = in_a ? a[offset(row, first + x, s.a_pitch)] : 0.0f;
        b_tile[y][x] = in_b ? b[offset(first + y, col, s.b_pitch)] : 0.0f;
        __syncthreads();  // below, a thread reads slots that other warps have filled
        for (int p = 0; p < kTile; ++p) sum += __shfl_sync(0xFFFFFFFFu, from_a, p) * b_tile[p][x];
        __syncthreads();  // the next tile overwrites what is read above
    }
    if (row < s.m && col < s.n) c[offset(row, col, s.c_pitch)] = sum;
}

void matmul_tiled(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    matmul_tiled_kernel<<<tiles_of(sizes, kTile), dim3(kTile, kTile)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}

// Launched with kSide x kSide threads for each kWide x kWide elements of C.
__global__ void matmul_registers_kernel(const float* a, const float* b, float* c, Sizes s) {
    __shared__ float a_slab[kWide][kDeep];
    __shared__ float b_slab[kDeep][kWide];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int top = blockIdx.y * kWide;
    const int left = blockIdx.x * kWide;
    float sums[kEach][kEach] = {};
    for (int first = 0; first < s.k; first += kDeep) {
        for (int slot = y * kSide + x; slot < kWide * kDeep; slot += kSide * kSide) {
            const int a_row = slot / kDeep, a_col = slot % kDeep;
            const bool in_a = top + a_row < s.m && first + a_col < s.k;
            a_slab[a_row][a_col] = in_a ? a[offset(top + a_row, first + a_col, s.a_pitch)] : 0.0f;
            const int b_row = slot / kWide, b_col = slot % kWide;
            const bool in_b = first + b_row < s.k && left + b_col < s.n;
            b_slab[b_row][b_col] = in_b ? b[offset(first + b_row, left + b_col, s.b_pitch)] : 0.0f;
        }
        __syncthreads();  // below, a thread reads slots that other warps have filled
        for (int p = 0; p < kDeep; ++p) {
            float from_a[kEach], from_b[kEach];
            for (int i = 0; i < kEach; ++i) from_a[i] = a_slab[y + i * kSide][p];
            for (int j = 0; j < kEach; ++j) from_b[j] = b_slab[p][x + j * kSide];
            for (int i = 0; i < kEach; ++i) {
                for (int j = 0; j < kEach; ++j) sums[i][j] += from_a[i] * from_b[j];
            }
        }
        __syncthreads();  // the next slab overwrites what is read above
    }
    for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) {
            const int row = top + y + i * kSide;
            const int col = left + x + j * kSide;
            if (row < s.m && col < s.n) c[offset(row, col, s.c_pitch)] = sums[i][j];
        }
    }
}

void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    matmul_registers_kernel<<<tiles_of(sizes, kWide), dim3(kSide, kSide)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}
