// Unusual: A block takes 64 rows of 32 columns, and stores two squares side by side.
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
    __shared__ float tile[64][kTile + 1];
    const unsigned c0 = blockIdx.x * 32, r0 = blockIdx.y * 64;
    for (unsigned r = threadIdx.y; r < 64; r += 8)
        if (r0 + r < rows && c0 + threadIdx.x < cols)
            tile[r][threadIdx.x] = in[offset(r0 + r, c0 + threadIdx.x, in_pitch)];
    __syncthreads();
    for (unsigned r = threadIdx.y; r < 32; r += 8)
        for (unsigned h = 0; h < 64; h += 32)
            if (c0 + r < cols && r0 + h + threadIdx.x < rows)
                out[offset(c0 + r, r0 + h + threadIdx.x, out_pitch)] = tile[h + threadIdx.x][r];
}

void transpose(const float* d_in, float* d_out, int rows, int cols, int in_pitch, int out_pitch) {
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 63) / 64), dim3(kTile, kBlockRows)>>>(
        d_in, d_out, rows, cols, in_pitch, out_pitch);
    CUDA_CHECK(cudaGetLastError());
}
