// Variant: the next slab is loaded while this one is multiplied, with one barrier for each slab.
// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: each loaded float is used for many elements, first in shared memory
// and then in registers.
// Start with README.md in this directory; `make 29` checks this file.
#include "matmul_tiled.h"

// A block computes kWide x kWide elements of C, and each of its kThreads threads 8 x 8 of them, as
// four pieces of 4 x 4. In each round it loads a slab: kDeep columns of A and kDeep rows of B, four
// floats of each by each thread.
static constexpr int kWide = 128;
static constexpr int kDeep = 8;
static constexpr int kThreads = 256;
static constexpr int kPadded = kWide + 4;  // a row of the transposed slab of A

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

// Four floats of a row, from (row, col) on, with 0 for floats that the matrix does not have.
// `kWhole`: it has all four, at an address that is a multiple of 16.
template <bool kWhole>
__device__ float4 four_of(const float* x, int row, int col, int rows, int cols, int pitch) {
    const float* from = x + offset(row, col, pitch);
    if (kWhole) return *reinterpret_cast<const float4*>(from);
    const int left = row < rows ? cols - col : 0;
    return make_float4(left > 0 ? from[0] : 0.0f,
                       left > 1 ? from[1] : 0.0f,
                       left > 2 ? from[2] : 0.0f,
                       left > 3 ? from[3] : 0.0f);
}

// The same for a store.
template <bool kWhole>
__device__ void store_four(float4 value, float* x, int row, int col, int rows, int cols,
                           int pitch) {
    float* to = x + offset(row, col, pitch);
    if (kWhole) {
        *reinterpret_cast<float4*>(to) = value;
        return;
    }
    const int left = row < rows ? cols - col : 0;
    if (left > 0) to[0] = value.x;
    if (left > 1) to[1] = value.y;
    if (left > 2) to[2] = value.z;
    if (left > 3) to[3] = value.w;
}

// A thread's share of a slab on its way into shared memory: four floats of a row of A, which become
// a column, and four of a row of B.
__device__ void keep_slab(float4 of_a, float4 of_b, float (*a_slab)[kPadded],
                          float (*b_slab)[kWide]) {
    const int t = threadIdx.x;
    const int a_row = t / 2, a_col = t % 2 * 4;
    a_slab[a_col + 0][a_row] = of_a.x;
    a_slab[a_col + 1][a_row] = of_a.y;
    a_slab[a_col + 2][a_row] = of_a.z;
    a_slab[a_col + 3][a_row] = of_a.w;
    *reinterpret_cast<float4*>(&b_slab[t / 32][t % 32 * 4]) = of_b;
}

// Adds the products of a slab: a row of the transposed slab of A with a row of B, eight floats of
// each. `row` and `col`: this thread's first piece; the other pieces are kRows and kCols further
// on.
template <int kRows, int kCols>
__device__ void add_products(const float (*a_slab)[kPadded], const float (*b_slab)[kWide], int row,
                             int col, float (&sums)[8][8]) {
#pragma unroll
    for (int p = 0; p < kDeep; ++p) {
        alignas(16) float from_a[8], from_b[8];
        *reinterpret_cast<float4*>(from_a) = *reinterpret_cast<const float4*>(&a_slab[p][row]);
        *reinterpret_cast<float4*>(from_a + 4) =
            *reinterpret_cast<const float4*>(&a_slab[p][row + kRows]);
        *reinterpret_cast<float4*>(from_b) = *reinterpret_cast<const float4*>(&b_slab[p][col]);
        *reinterpret_cast<float4*>(from_b + 4) =
            *reinterpret_cast<const float4*>(&b_slab[p][col + kCols]);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) sums[i][j] += from_a[i] * from_b[j];
        }
    }
}

// Stores the four pieces of a thread.
template <bool kWhole, int kRows, int kCols>
__device__ void store_pieces(const float (&sums)[8][8], float* c, int row, int col, Sizes s) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int to = row + i % 4 + (i < 4 ? 0 : kRows);
        const float* of = sums[i];
        store_four<kWhole>(
            make_float4(of[0], of[1], of[2], of[3]), c, to, col, s.m, s.n, s.c_pitch);
        store_four<kWhole>(
            make_float4(of[4], of[5], of[6], of[7]), c, to, col + kCols, s.m, s.n, s.c_pitch);
    }
}

// Launched with kThreads threads for each kWide x kWide elements of C. `kWhole`: all blocks and
// slabs are full, and every row begins at a multiple of 16 bytes. While a slab is multiplied, the
// next one is loaded into registers. It is then stored to the slab that is not in use, so that one
// barrier for each slab is enough. A warp computes 32 x 64 elements, and its lanes read 16 floats
// of A and 32 of B at a time.
template <bool kWhole>
__global__ void __launch_bounds__(kThreads, 2)
    matmul_registers_kernel(const float* a, const float* b, float* c, Sizes s) {
    __shared__ alignas(16) float a_slab[2][kDeep][kPadded];
    __shared__ alignas(16) float b_slab[2][kDeep][kWide];
    const int t = threadIdx.x;
    const int warp = t / 32, lane = t % 32;
    const int top = blockIdx.y * kWide, left = blockIdx.x * kWide;
    const int a_row = top + t / 2, a_col = t % 2 * 4;  // of the floats that it loads
    const int b_row = t / 32, b_col = left + t % 32 * 4;
    const int row = warp / 2 * 32 + lane / 8 * 4;  // of its first piece of C
    const int col = warp % 2 * 64 + lane % 8 * 4;
    float sums[8][8] = {};
    float4 of_a = four_of<kWhole>(a, a_row, a_col, s.m, s.k, s.a_pitch);
    float4 of_b = four_of<kWhole>(b, b_row, b_col, s.k, s.n, s.b_pitch);
    keep_slab(of_a, of_b, a_slab[0], b_slab[0]);
    __syncthreads();  // below, a thread reads slots that other warps have filled
    int now = 0;
    for (int next = kDeep; next < s.k; next += kDeep) {
        of_a = four_of<kWhole>(a, a_row, next + a_col, s.m, s.k, s.a_pitch);
        of_b = four_of<kWhole>(b, next + b_row, b_col, s.k, s.n, s.b_pitch);
        add_products<16, 32>(a_slab[now], b_slab[now], row, col, sums);
        now ^= 1;
        keep_slab(of_a, of_b, a_slab[now], b_slab[now]);
        __syncthreads();  // the next slab is complete, and no thread reads the last one any more
    }
    add_products<16, 32>(a_slab[now], b_slab[now], row, col, sums);
    store_pieces<kWhole, 16, 32>(sums, c, top + row, left + col, s);
}

static bool is_aligned(const float* data, int pitch) {
    return reinterpret_cast<size_t>(data) % sizeof(float4) == 0 && pitch % 4 == 0;
}

void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    const auto [m, n, k, a_pitch, b_pitch, c_pitch] = sizes;
    if (m == 0 || n == 0) return;
    const bool whole = m % kWide == 0 && n % kWide == 0 && k % kDeep == 0 && k > 0;
    const bool aligned =
        is_aligned(d_a, a_pitch) && is_aligned(d_b, b_pitch) && is_aligned(d_c, c_pitch);
    const auto kernel =
        whole && aligned ? matmul_registers_kernel<true> : matmul_registers_kernel<false>;
    kernel<<<tiles_of(sizes, kWide), kThreads>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}
