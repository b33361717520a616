// Unusual: No padding: row r of the tile holds its columns in another order, c xor r.
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
    const int col = blockIdx.x * kTile + threadIdx.x;
    const int row = blockIdx.y * kTile + threadIdx.y;
    if (row < rows && col < cols) out[offset(col, row, out_pitch)] = in[offset(row, col, in_pitch)];
}

void transpose_naive(const float* d_in, float* d_out, int rows, int cols, int in_pitch,
                     int out_pitch) {
    transpose_naive_kernel<<<tiles_of(rows, cols), dim3(kTile, kTile)>>>(
        d_in, d_out, rows, cols, in_pitch, out_pitch);
    CUDA_CHECK(cudaGetLastError());
}

int column_passes([[maybe_unused]] int width) {
    int lanes_in[kBanks] = {};
    int passes = 0;
    for (int lane = 0; lane < kTile; ++lane) {
        const int count = ++lanes_in[static_cast<long long>(lane) * width % kBanks];
        if (count > passes) passes = count;
    }
    return passes;
}

// Launched with kTile x kBlockRows threads for a tile of kTile x kTile elements.
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols, int in_pitch,
                                 int out_pitch) {
    __shared__ float tile[kTile][kTile];
    const int in_col = blockIdx.x * kTile + threadIdx.x;
    const int in_row = blockIdx.y * kTile;
    for (int r = threadIdx.y; r < kTile; r += kBlockRows) {
        if (in_row + r < rows && in_col < cols) {
            tile[r][threadIdx.x ^ r] = in[offset(in_row + r, in_col, in_pitch)];
        }
    }
    __syncthreads();  // below, a thread reads slots that other warps have filled
    const int out_col = blockIdx.y * kTile + threadIdx.x;
    const int out_row = blockIdx.x * kTile;
    for (int r = threadIdx.y; r < kTile; r += kBlockRows) {
        if (out_row + r < cols && out_col < rows) {
            out[offset(out_row + r, out_col, out_pitch)] = tile[threadIdx.x][r ^ threadIdx.x];
        }
    }
}

void transpose(const float* d_in, float* d_out, int rows, int cols, int in_pitch, int out_pitch) {
    transpose_kernel<<<tiles_of(rows, cols), dim3(kTile, kBlockRows)>>>(
        d_in, d_out, rows, cols, in_pitch, out_pitch);
    CUDA_CHECK(cudaGetLastError());
}
