// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: each loaded float is used for many elements, first in shared memory
// and then in registers.
// Start with README.md in this directory; `make 29` checks this file.
#include "matmul_tiled.h"

// Task 4: a block computes kWide x kWide elements of C, and each of its kSide x kSide threads kEach
// x kEach of them. In each round it loads a slab: kDeep columns of A and kDeep rows of B.
static constexpr int kWide = 64;
[[maybe_unused]] static constexpr int kDeep = 16;
[[maybe_unused]] static constexpr int kEach = 4;
static constexpr int kSide = 16;

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
    return 0;
    // END 2
}

// Launched with kTile x kTile threads for each tile of C.
__global__ void matmul_tiled_kernel(const float* a, const float* b, float* c, Sizes s) {
    // TODO 3 (about 17 lines): go along the rows of A and down the columns of B tile by tile. Each
    // thread loads one element of each tile, or 0 if there is none. Then it adds kTile products to
    // the sum of its own element of C. All threads must reach all barriers.
    // END 3
}

void matmul_tiled(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    matmul_tiled_kernel<<<tiles_of(sizes, kTile), dim3(kTile, kTile)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}

// Launched with kSide x kSide threads for each kWide x kWide elements of C.
__global__ void matmul_registers_kernel(const float* a, const float* b, float* c, Sizes s) {
    // TODO 4 (about 34 lines): thread (x, y) computes the elements (y + i * kSide, x + j * kSide)
    // of the block's part of C, for i and j from 0 to kEach - 1. All threads together load a slab:
    // kWide x kDeep floats of A and kDeep x kWide of B. Then, for each p of the slab, a thread
    // loads kEach floats of each into registers, and adds kEach x kEach products to its kEach x
    // kEach sums.
    // END 4
}

void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    matmul_registers_kernel<<<tiles_of(sizes, kWide), dim3(kSide, kSide)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}
