// Variant: tiles of 64 x 64 in pieces of 4 x 4, which each thread turns in registers.
// SPDX-License-Identifier: MIT
// Lesson 16, transpose: rows become columns, with neighbouring threads on neighbouring addresses on
// both sides, and without bank conflicts in between.
// Start with README.md in this directory; `make 16` checks this file.
#include "transpose_bank_conflicts.h"

// The wide tile, and its pieces: a piece is 4 x 4 elements, four loads and four stores of 16 bytes.
static constexpr int kWide = 64;
static constexpr int kPieces = kWide / 4;               // along each side of the tile
static constexpr int kWideThreads = kPieces * kPieces;  // one for each piece
static constexpr int kWideRows = kWideThreads / kTile;  // warps
static constexpr int kPadded = kWide + 1;               // a row of single floats

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

// Moves a whole tile. `tile` holds the tile transposed, 16 vectors of four floats in each row; the
// vectors of a row are swapped by an exclusive or with the number of its piece, so that neither the
// stores below nor the loads meet in a bank. No column is left unused.
__device__ void move_pieces(const float* in, float* out, int in_pitch, int out_pitch,
                            float4* tile) {
    const int right = threadIdx.x % kPieces, down = threadIdx.x / kPieces;  // of this piece
    float4 row[4];  // four loads, all under way before the first value is needed
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        row[r] = reinterpret_cast<const float4*>(in + offset(4 * down + r, 0, in_pitch))[right];
    }
    float4* column = tile + 4 * right * kPieces + (down ^ right);
    column[0 * kPieces] = make_float4(row[0].x, row[1].x, row[2].x, row[3].x);
    column[1 * kPieces] = make_float4(row[0].y, row[1].y, row[2].y, row[3].y);
    column[2 * kPieces] = make_float4(row[0].z, row[1].z, row[2].z, row[3].z);
    column[3 * kPieces] = make_float4(row[0].w, row[1].w, row[2].w, row[3].w);
    __syncthreads();  // below, a thread reads slots that other warps have filled
#pragma unroll
    for (int r = down; r < kWide; r += kWideThreads / kPieces) {
        reinterpret_cast<float4*>(out + offset(r, 0, out_pitch))[right] =
            tile[r * kPieces + (right ^ (r / 4))];
    }
}

// Moves what there is of a tile at the edge, `rows` x `cols` elements, float by float.
__device__ void move_floats(const float* in, float* out, int rows, int cols, int in_pitch,
                            int out_pitch, float* tile) {
    const int lane = threadIdx.x % kTile, warp = threadIdx.x / kTile;
    for (int r = warp; r < rows; r += kWideRows) {
        for (int c = lane; c < cols; c += kTile) tile[r * kPadded + c] = in[offset(r, c, in_pitch)];
    }
    __syncthreads();  // below, a thread reads slots that other warps have filled
    for (int c = warp; c < cols; c += kWideRows) {
        for (int r = lane; r < rows; r += kTile) {
            out[offset(c, r, out_pitch)] = tile[r * kPadded + c];
        }
    }
}

// Launched with kWideThreads threads for each tile. Blocks that run at the same time lie one below
// the other: side by side in the output, they fill long runs of each of its rows. `aligned`: every
// row of both matrices begins at a multiple of 16 bytes.
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols, int in_pitch,
                                 int out_pitch, bool aligned) {
    __shared__ alignas(16) float tile[kWide * kPadded];
    const int tiles_down = (rows + kWide - 1) / kWide;
    const int row = blockIdx.x % tiles_down * kWide, col = blockIdx.x / tiles_down * kWide;
    in += offset(row, col, in_pitch);
    out += offset(col, row, out_pitch);
    const int left_rows = min(rows - row, kWide), left_cols = min(cols - col, kWide);
    if (aligned && left_rows == kWide && left_cols == kWide) {
        move_pieces(in, out, in_pitch, out_pitch, reinterpret_cast<float4*>(tile));
    } else {
        move_floats(in, out, left_rows, left_cols, in_pitch, out_pitch, tile);
    }
}

static bool is_aligned(const float* data, int pitch) {
    return reinterpret_cast<size_t>(data) % sizeof(float4) == 0 && pitch % 4 == 0;
}

void transpose(const float* d_in, float* d_out, int rows, int cols, int in_pitch, int out_pitch) {
    const unsigned tiles = unsigned((rows + kWide - 1) / kWide) * ((cols + kWide - 1) / kWide);
    const bool aligned = is_aligned(d_in, in_pitch) && is_aligned(d_out, out_pitch);
    transpose_kernel<<<tiles, kWideThreads>>>(
        d_in, d_out, rows, cols, in_pitch, out_pitch, aligned);
    CUDA_CHECK(cudaGetLastError());
}
