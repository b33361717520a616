// Unusual: A one-dimensional grid and block, a flat tile sized by the launch, and each block takes
// tiles until there are no more.
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

// Any number of blocks of 128 threads.
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols, int in_pitch,
                                 int out_pitch) {
    extern __shared__ float tile[];
    constexpr int kWidth = kTile + 3;  // odd, which is all that matters
    const int lane = threadIdx.x % kTile, warp = threadIdx.x / kTile, warps = blockDim.x / kTile;
    const long long across = (cols + kTile - 1) / kTile, down = (rows + kTile - 1) / kTile;
    for (long long k = blockIdx.x; k < across * down; k += gridDim.x) {
        const int top = static_cast<int>(k / across) * kTile;
        const int left = static_cast<int>(k % across) * kTile;
        for (int r = warp; r < min(kTile, rows - top); r += warps) {
            if (left + lane < cols)
                tile[r * kWidth + lane] = in[offset(top + r, left + lane, in_pitch)];
        }
        __syncthreads();
        for (int c = warp; c < min(kTile, cols - left); c += warps) {
            if (top + lane < rows)
                out[offset(left + c, top + lane, out_pitch)] = tile[lane * kWidth + c];
        }
        if (k + gridDim.x < across * down) __syncthreads();  // before the tile is filled again
    }
}

void transpose(const float* d_in, float* d_out, int rows, int cols, int in_pitch, int out_pitch) {
    const dim3 tiles = tiles_of(rows, cols);
    const long long count = static_cast<long long>(tiles.x) * tiles.y;
    const int blocks = static_cast<int>(count < 1000 ? count : 1000);
    transpose_kernel<<<blocks, 128, kTile*(kTile + 3) * sizeof(float)>>>(
        d_in, d_out, rows, cols, in_pitch, out_pitch);
    CUDA_CHECK(cudaGetLastError());
}
