// Unusual: Five blocks walk over all tiles of C, and 64 over all halves.
// SPDX-License-Identifier: MIT
// Lesson 30, tensor cores: a warp multiplies 16 x 16 matrices of half in one instruction.
// Start with README.md in this directory; `make 30` checks this file.
#include "tensor_cores.h"

#include <mma.h>

#include <type_traits>

namespace wmma = nvcuda::wmma;

static constexpr int kLanes = 32;
static constexpr int kWarps = 4;  // in each block of tasks 3 and 4

// A block computes kWide x kWide elements of C, and each warp a quarter: kEach x kEach fragments.
// In each round the block loads a slab: kDeep columns of A and kDeep rows of B.
static constexpr int kWide = 64;
[[maybe_unused]] static constexpr int kDeep = 32;
[[maybe_unused]] static constexpr int kEach = 2;
// Rows in shared memory are longer by kSkew, so that eight rows of a fragment use different banks.
[[maybe_unused]] static constexpr int kSkew = 8;

// Fragments of A, of B (`Layout`: how B is stored in memory) and of C.
using PartOfA = wmma::fragment<wmma::matrix_a, kSide, kSide, kSide, half, wmma::row_major>;
template <class Layout>
using PartOfB = wmma::fragment<wmma::matrix_b, kSide, kSide, kSide, half, Layout>;
using PartOfC = wmma::fragment<wmma::accumulator, kSide, kSide, kSide, float>;

// The offset of element (row, col). The product may need more than 31 bits.
__device__ size_t offset(int row, int col, int pitch) {
    return static_cast<size_t>(row) * pitch + col;
}

static int rounded_up(int n) {
    return (n + kSide - 1) / kSide * kSide;
}

// A grid of any size: each thread takes one element of `out` after the other.
__global__ void round_and_pad_kernel(const float* in, half* out, int rows, int cols, int in_pitch,
                                     int out_cols, size_t elements) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += stride) {
        const int row = i / out_cols, col = i % out_cols;
        float value = 0;
        if (row < rows && col < cols) value = in[offset(row, col, in_pitch)];
        out[i] = __float2half_rn(value);
    }
}

void round_and_pad(const float* d_in, half* d_out, int rows, int cols, int in_pitch) {
    if (rows == 0 || cols == 0) return;
    const size_t elements = size_t(rounded_up(rows)) * rounded_up(cols);
    round_and_pad_kernel<<<64, 256>>>(
        d_in, d_out, rows, cols, in_pitch, rounded_up(cols), elements);
    CUDA_CHECK(cudaGetLastError());
}

Errors largest_errors([[maybe_unused]] int k, [[maybe_unused]] double magnitude) {
    const double of_one_input = 0x1p-11;
    return {2 * of_one_input * magnitude, (k + 1) * 0x1p-23 * magnitude};
}

// Launched with kWarps warps in each block, side by side: warp threadIdx.y of the block computes
// kSide x kSide elements of C. Layout: wmma::row_major or wmma::col_major, as B is stored in
// memory.
template <class Layout>
__global__ void multiply_padded_kernel(const half* a, const half* b, float* c, Sizes s) {
    [[maybe_unused]] constexpr bool in_rows = std::is_same_v<Layout, wmma::row_major>;
    [[maybe_unused]] const int top = blockIdx.y * kSide;
    const int left = (blockIdx.x * kWarps + threadIdx.y) * kSide;
    if (left >= s.n) return;  // the whole warp
    PartOfA from_a;
    PartOfB<Layout> from_b;
    PartOfC sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int first = 0; first < s.k; first += kSide) {
        const size_t at = in_rows ? offset(first, left, s.b_pitch) : offset(left, first, s.b_pitch);
        wmma::load_matrix_sync(from_a, a + offset(top, first, s.a_pitch), s.a_pitch);
        wmma::load_matrix_sync(from_b, b + at, s.b_pitch);
        wmma::mma_sync(sums, from_a, from_b, sums);
    }
    wmma::store_matrix_sync(c + offset(top, left, s.c_pitch), sums, s.c_pitch, wmma::mem_row_major);
}

void multiply_padded(const half* d_a, const half* d_b, float* d_c, Sizes sizes, Order b_order) {
    if (sizes.m == 0 || sizes.n == 0) return;
    const auto kernel = b_order == Order::kRows ? multiply_padded_kernel<wmma::row_major>
                                                : multiply_padded_kernel<wmma::col_major>;
    const dim3 blocks((sizes.n / kSide + kWarps - 1) / kWarps, sizes.m / kSide);
    kernel<<<blocks, dim3(kLanes, kWarps)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}

// A few blocks of kWarps warps: each takes one tile of C after the other.
__global__ void multiply_any_kernel(const half* a, const half* b, float* c, Sizes s) {
    __shared__ alignas(32) half a_slab[kWide][kDeep + kSkew];
    __shared__ alignas(32) half b_slab[kDeep][kWide + kSkew];
    __shared__ alignas(32) float c_tile[kWide][kWide + kSkew];
    const int thread = threadIdx.y * kLanes + threadIdx.x;
    const int warp_top = threadIdx.y / 2 * (kWide / 2);
    const int warp_left = threadIdx.y % 2 * (kWide / 2);
    const half zero = __float2half(0.0f);
    const int across = (s.n + kWide - 1) / kWide;
    const int tiles = across * ((s.m + kWide - 1) / kWide);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int top = tile / across * kWide;
        const int left = tile % across * kWide;
        PartOfC sums[kEach][kEach];
        for (int i = 0; i < kEach; ++i) {
            for (int j = 0; j < kEach; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
        }
        for (int first = 0; first < s.k; first += kDeep) {
            for (int slot = thread; slot < kWide * kDeep; slot += kWarps * kLanes) {
                const int a_row = slot / kDeep, a_col = slot % kDeep;
                const bool in_a = top + a_row < s.m && first + a_col < s.k;
                a_slab[a_row][a_col] =
                    in_a ? a[offset(top + a_row, first + a_col, s.a_pitch)] : zero;
                const int b_row = slot / kWide, b_col = slot % kWide;
                const bool in_b = first + b_row < s.k && left + b_col < s.n;
                b_slab[b_row][b_col] =
                    in_b ? b[offset(first + b_row, left + b_col, s.b_pitch)] : zero;
            }
            __syncthreads();  // below, a warp loads elements that other warps have stored
            for (int p = 0; p < kDeep; p += kSide) {
                PartOfA from_a[kEach];
                PartOfB<wmma::row_major> from_b[kEach];
                for (int i = 0; i < kEach; ++i) {
                    const half* part = &a_slab[warp_top + i * kSide][p];
                    wmma::load_matrix_sync(from_a[i], part, kDeep + kSkew);
                }
                for (int j = 0; j < kEach; ++j) {
                    const half* part = &b_slab[p][warp_left + j * kSide];
                    wmma::load_matrix_sync(from_b[j], part, kWide + kSkew);
                }
                for (int i = 0; i < kEach; ++i) {
                    for (int j = 0; j < kEach; ++j) {
                        wmma::mma_sync(sums[i][j], from_a[i], from_b[j], sums[i][j]);
                    }
                }
            }
            __syncthreads();  // the next slab overwrites the elements that are loaded above
        }
        for (int i = 0; i < kEach; ++i) {
            for (int j = 0; j < kEach; ++j) {
                float* part = &c_tile[warp_top + i * kSide][warp_left + j * kSide];
                wmma::store_matrix_sync(part, sums[i][j], kWide + kSkew, wmma::mem_row_major);
            }
        }
        __syncthreads();  // below, a thread copies elements that other warps have stored
        for (int slot = thread; slot < kWide * kWide; slot += kWarps * kLanes) {
            const int row = slot / kWide, col = slot % kWide;
            if (top + row >= s.m || left + col >= s.n) continue;
            c[offset(top + row, left + col, s.c_pitch)] = c_tile[row][col];
        }
        __syncthreads();  // the next tile overwrites the elements that are copied above
    }
}

void multiply_any(const half* d_a, const half* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    multiply_any_kernel<<<5, dim3(kLanes, kWarps)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}
