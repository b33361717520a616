// Variant: eight elements of a column for each thread: one float of B serves eight products.
// verdict: efficient "efficient: a float in a register is used for several products"
// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: each loaded float is used for many elements, first in shared memory
// and then in registers.
// Start with README.md in this directory; `make 29` checks this file.
#include "matmul_tiled.h"

// A block computes kWide x kWide elements of C, and each of its threads kEach of one column. In
// each round it loads a slab: kDeep columns of A and kDeep rows of B.
static constexpr int kWide = 64;
static constexpr int kDeep = 8;
static constexpr int kEach = 8;
static constexpr int kDown = kWide / kEach;  // threads side by side in a column of C

// One block for each tile of C, along x its columns.
static dim3 tiles_of(Sizes sizes, int tile) {
    return dim3((sizes.n + tile - 1) / tile, (sizes.m + tile - 1) / tile);
}

// The offset of element (row, col). The product may need more than 31 bits.
__device__ size_t offset(int row, int col, int pitch) {
    return static_cast<size_t>(row) * pitch + col;
}

// Launched with kTile x kTile threads for each tile of C.
__global__ void matmul_naive_kernel(const float* a, const float* b, float* c, Sizes s) {
    // TODO 1 (about 8 lines): find the row and the column of this thread's element of C: x gives
    // the column, y the row. If C has this element, go along its row of A and down its column of B,
    // sum the products, and store the sum.
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int col = blockIdx.x * kTile + threadIdx.x;
    if (row >= s.m || col >= s.n) return;
    float sum = 0;
    for (int p = 0; p < s.k; ++p) {
        sum += a[offset(row, p, s.a_pitch)] * b[offset(p, col, s.b_pitch)];
    }
    c[offset(row, col, s.c_pitch)] = sum;
    // END 1
}

void matmul_naive(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    matmul_naive_kernel<<<tiles_of(sizes, kTile), dim3(kTile, kTile)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}

long long floats_loaded([[maybe_unused]] int m, [[maybe_unused]] int n, [[maybe_unused]] int k,
                        [[maybe_unused]] int tile) {
    // TODO 2 (about 3 lines): how many floats of A and B do all blocks load together? Each block
    // loads the whole rows and columns that its tile needs. The number may need more than 31 bits.
    const long long tiles_down = (m + tile - 1) / tile;
    const long long tiles_across = (n + tile - 1) / tile;
    return k * (m * tiles_across + n * tiles_down);
    // END 2
}

// Launched with kTile x kTile threads for each tile of C.
__global__ void matmul_tiled_kernel(const float* a, const float* b, float* c, Sizes s) {
    // TODO 3 (about 17 lines): go along the rows of A and down the columns of B tile by tile. Each
    // thread loads one element of each tile, or 0 if there is none. Then it adds kTile products to
    // the sum of its own element of C. All threads must reach all barriers.
    __shared__ float a_tile[kTile][kTile];
    __shared__ float b_tile[kTile][kTile];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * kTile + y;
    const int col = blockIdx.x * kTile + x;
    float sum = 0;
    for (int first = 0; first < s.k; first += kTile) {
        const bool in_a = row < s.m && first + x < s.k;
        const bool in_b = first + y < s.k && col < s.n;
        a_tile[y][x] = in_a ? a[offset(row, first + x, s.a_pitch)] : 0.0f;
        b_tile[y][x] = in_b ? b[offset(first + y, col, s.b_pitch)] : 0.0f;
        __syncthreads();  // below, a thread reads slots that other warps have filled
        for (int p = 0; p < kTile; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();  // the next tiles overwrite the slots that are read above
    }
    if (row < s.m && col < s.n) c[offset(row, col, s.c_pitch)] = sum;
    // END 3
}

void matmul_tiled(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    matmul_tiled_kernel<<<tiles_of(sizes, kTile), dim3(kTile, kTile)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}

// Launched with kWide x kDown threads for each kWide x kWide elements of C.
__global__ void matmul_registers_kernel(const float* a, const float* b, float* c, Sizes s) {
    __shared__ float a_slab[kWide][kDeep];
    __shared__ float b_slab[kDeep][kWide];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int top = blockIdx.y * kWide;
    const int left = blockIdx.x * kWide;
    const int slot = y * kWide + x;  // there is one thread for each slot
    const int a_row = slot / kDeep, a_col = slot % kDeep;
    float sums[kEach] = {};
    for (int first = 0; first < s.k; first += kDeep) {
        const bool in_a = top + a_row < s.m && first + a_col < s.k;
        const bool in_b = first + y < s.k && left + x < s.n;
        a_slab[a_row][a_col] = in_a ? a[offset(top + a_row, first + a_col, s.a_pitch)] : 0.0f;
        b_slab[y][x] = in_b ? b[offset(first + y, left + x, s.b_pitch)] : 0.0f;
        __syncthreads();  // below, a thread reads slots that other warps have filled
        for (int p = 0; p < kDeep; ++p) {
            const float from_b = b_slab[p][x];
            for (int i = 0; i < kEach; ++i) sums[i] += a_slab[y * kEach + i][p] * from_b;
        }
        __syncthreads();  // the next slab overwrites the slots that are read above
    }
    for (int i = 0; i < kEach; ++i) {
        const int row = top + y * kEach + i, col = left + x;
        if (row < s.m && col < s.n) c[offset(row, col, s.c_pitch)] = sums[i];
    }
}

void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    matmul_registers_kernel<<<tiles_of(sizes, kWide), dim3(kWide, kDown)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}
