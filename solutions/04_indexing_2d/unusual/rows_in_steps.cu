// Unusual: A row of blocks walks down the matrix in steps of the whole grid, and columns are walked
// the same way.
// SPDX-License-Identifier: MIT
// Lesson 04, indexing in two dimensions: rows, columns, and a pitch between the rows.
// Start with README.md in this directory; `make 04` checks this file.
#include "indexing_2d.h"

__host__ __device__ size_t element_offset([[maybe_unused]] int row, [[maybe_unused]] int column,
                                          [[maybe_unused]] size_t pitch) {
    return row * pitch + column;  // pitch is a size_t, so the product is one too
}

// One thread per element, columns along x. The grid may be larger than the matrix on either axis.
__global__ void increment_kernel(float* data, int height, int width, size_t pitch) {
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < height;
         row += gridDim.y * blockDim.y) {
        for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < width;
             column += gridDim.x * blockDim.x) {
            data[element_offset(row, column, pitch)] += 1.0f;
        }
    }
}

void increment_on_grid(float* d_data, int height, int width, size_t pitch, dim3 blocks,
                       dim3 threads) {
    increment_kernel<<<blocks, threads>>>(d_data, height, width, pitch);
    CUDA_CHECK(cudaGetLastError());
}

// The block of all launches below: a warp covers 32 columns of one row.
static const dim3 kBlock(32, 8);

// Just enough blocks of kBlock threads for height rows of width columns.
static dim3 blocks_for([[maybe_unused]] int height, [[maybe_unused]] int width) {
    const unsigned columns = (width + kBlock.x - 1) / kBlock.x;
    const unsigned rows = (height + kBlock.y - 1) / kBlock.y;
    return dim3(columns, rows);
}

void increment_2d(float* d_data, int height, int width, size_t pitch) {
    if (height == 0 || width == 0) return;  // an empty grid cannot be launched
    increment_on_grid(d_data, height, width, pitch, dim3(4, 64), kBlock);
}

__global__ void hypot_kernel(const float* a, size_t pitch_a, const float* b, size_t pitch_b,
                             float* out, size_t pitch_out, int height, int width) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    const float x = a[element_offset(row, column, pitch_a)];
    const float y = b[element_offset(row, column, pitch_b)];
    out[element_offset(row, column, pitch_out)] = sqrtf(x * x + y * y);
}

void hypot_2d(const float* d_a, size_t pitch_a, const float* d_b, size_t pitch_b, float* d_out,
              size_t pitch_out, int height, int width) {
    if (height == 0 || width == 0) return;
    hypot_kernel<<<blocks_for(height, width), kBlock>>>(
        d_a, pitch_a, d_b, pitch_b, d_out, pitch_out, height, width);
    CUDA_CHECK(cudaGetLastError());
}
