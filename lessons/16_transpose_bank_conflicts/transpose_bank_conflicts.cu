// SPDX-License-Identifier: MIT
// Lesson 16, transpose: rows become columns, with neighbouring threads on neighbouring addresses on
// both sides, and without bank conflicts in between.
// Start with README.md in this directory; `make 16` checks this file.
#include "transpose_bank_conflicts.h"

// Blocks of 32 x 8 threads: each thread moves four elements of a tile.
static constexpr int kBlockRows = 8;

// One block for each tile of a matrix of rows x cols. A grid may have 2^31 - 1 blocks in x, 65,535
// in y: enough for 2^20 rows.
static dim3 tiles_of(int rows, int cols) {
    return dim3((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
}

// Where element (row, col) lies. The product may need more than 31 bits.
__device__ size_t offset(int row, int col, int pitch) {
    return static_cast<size_t>(row) * pitch + col;
}

// Launched with one thread for each element of a tile.
__global__ void transpose_naive_kernel(const float* in, float* out, int rows, int cols,
                                       int in_pitch, int out_pitch) {
    // TODO 1 (about 3 lines): find the column and the row of this thread's element, column by x and
    // row by y. If it exists, store it where it belongs in the output.
    // END 1
}

void transpose_naive(const float* d_in, float* d_out, int rows, int cols, int in_pitch,
                     int out_pitch) {
    transpose_naive_kernel<<<tiles_of(rows, cols), dim3(kTile, kTile)>>>(
        d_in, d_out, rows, cols, in_pitch, out_pitch);
    CUDA_CHECK(cudaGetLastError());
}

int column_passes([[maybe_unused]] int width) {
    // TODO 2 (about 7 lines): slot [l][c] is word l * width + c of the tile. Count how many of the
    // 32 lanes fall into each bank, and return the largest count.
    return 0;
    // END 2
}

// Launched with kTile x kBlockRows threads for a tile of kTile x kTile elements.
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols, int in_pitch,
                                 int out_pitch) {
    // TODO 3 (about 16 lines): load a tile row by row and store it, transposed, row by row of the
    // output. Choose the width of the tile's rows so that column_passes of it is 1.
    // END 3
}

void transpose(const float* d_in, float* d_out, int rows, int cols, int in_pitch, int out_pitch) {
    transpose_kernel<<<tiles_of(rows, cols), dim3(kTile, kBlockRows)>>>(
        d_in, d_out, rows, cols, in_pitch, out_pitch);
    CUDA_CHECK(cudaGetLastError());
}
