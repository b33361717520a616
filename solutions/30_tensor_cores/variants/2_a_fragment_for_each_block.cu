// Variant: a block of one warp computes one fragment of C.
// verdict: efficient "efficient: 64 x 64 elements share what their block loads"
// verdict: efficient "efficient: a fragment is used for several matrix instructions"
// verdict: efficient "efficient: two barriers for each slab, and all warps share the work"
// SPDX-License-Identifier: MIT
// Lesson 30, tensor cores: a warp multiplies 16 x 16 matrices of half in one instruction.
// Start with README.md in this directory; `make 30` checks this file.
#include "tensor_cores.h"

#include <mma.h>

#include <type_traits>

namespace wmma = nvcuda::wmma;

static constexpr int kLanes = 32;
static constexpr int kWarps = 4;  // in each block of tasks 3 and 4

// Rows in shared memory are longer by kSkew, so that eight rows of a fragment use different banks.
static constexpr int kSkew = 8;

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

// Launched with one thread for each element of `out`, whose rows are as long as the grid is wide.
__global__ void round_and_pad_kernel(const float* in, half* out, int rows, int cols, int in_pitch) {
    [[maybe_unused]] const int row = blockIdx.y * blockDim.y + threadIdx.y;
    [[maybe_unused]] const int col = blockIdx.x * blockDim.x + threadIdx.x;
    [[maybe_unused]] const int out_pitch = gridDim.x * blockDim.x;
    // TODO 1 (about 2 lines): store the element of `in` as a half, or 0 if `in` has no such
    // element.
    const float value = row < rows && col < cols ? in[offset(row, col, in_pitch)] : 0.0f;
    out[offset(row, col, out_pitch)] = __float2half(value);
    // END 1
}

void round_and_pad(const float* d_in, half* d_out, int rows, int cols, int in_pitch) {
    if (rows == 0 || cols == 0) return;
    const dim3 blocks(rounded_up(cols) / kSide, rounded_up(rows) / kSide);
    round_and_pad_kernel<<<blocks, dim3(kSide, kSide)>>>(d_in, d_out, rows, cols, in_pitch);
    CUDA_CHECK(cudaGetLastError());
}

Errors largest_errors([[maybe_unused]] int k, [[maybe_unused]] double magnitude) {
    // TODO 2 (about 3 lines): a half has 11 significant bits. What is the largest relative error of
    // a rounded float, and of the product of two? For the sum, see the header.
    const double of_one_input = 0x1p-11;
    return {2 * of_one_input * magnitude, (k + 1) * 0x1p-23 * magnitude};
    // END 2
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
    // TODO 3 (about 10 lines): clear the sums. For each kSide columns of A and rows of B, load both
    // fragments and multiply. Store the sums.
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
    // END 3
}

void multiply_padded(const half* d_a, const half* d_b, float* d_c, Sizes sizes, Order b_order) {
    if (sizes.m == 0 || sizes.n == 0) return;
    const auto kernel = b_order == Order::kRows ? multiply_padded_kernel<wmma::row_major>
                                                : multiply_padded_kernel<wmma::col_major>;
    const dim3 blocks((sizes.n / kSide + kWarps - 1) / kWarps, sizes.m / kSide);
    kernel<<<blocks, dim3(kLanes, kWarps)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}

// Launched with one warp for each kSide x kSide elements of C.
__global__ void multiply_any_kernel(const half* a, const half* b, float* c, Sizes s) {
    __shared__ alignas(32) half a_part[kSide][kSide + kSkew];
    __shared__ alignas(32) half b_part[kSide][kSide + kSkew];
    __shared__ alignas(32) float c_part[kSide][kSide + kSkew];
    const int top = blockIdx.y * kSide, left = blockIdx.x * kSide;
    const half zero = __float2half(0.0f);
    PartOfA from_a;
    PartOfB<wmma::row_major> from_b;
    PartOfC sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int first = 0; first < s.k; first += kSide) {
        for (int slot = threadIdx.x; slot < kSide * kSide; slot += kLanes) {
            const int row = slot / kSide, col = slot % kSide;
            const bool in_a = top + row < s.m && first + col < s.k;
            const bool in_b = first + row < s.k && left + col < s.n;
            a_part[row][col] = in_a ? a[offset(top + row, first + col, s.a_pitch)] : zero;
            b_part[row][col] = in_b ? b[offset(first + row, left + col, s.b_pitch)] : zero;
        }
        __syncwarp();  // below, all lanes load elements that other lanes have stored
        wmma::load_matrix_sync(from_a, &a_part[0][0], kSide + kSkew);
        wmma::load_matrix_sync(from_b, &b_part[0][0], kSide + kSkew);
        wmma::mma_sync(sums, from_a, from_b, sums);
        __syncwarp();  // the next parts overwrite the elements that are loaded above
    }
    wmma::store_matrix_sync(&c_part[0][0], sums, kSide + kSkew, wmma::mem_row_major);
    __syncwarp();  // below, a lane copies elements that other lanes have stored
    for (int slot = threadIdx.x; slot < kSide * kSide; slot += kLanes) {
        // Rows 0 and 2, then 1 and 3, and so on: neighbours would share banks.
        const int row = slot / 64 * 4 + slot / 16 % 2 * 2 + slot / 32 % 2, col = slot % 16;
        if (top + row >= s.m || left + col >= s.n) continue;
        c[offset(top + row, left + col, s.c_pitch)] = c_part[row][col];
    }
}

void multiply_any(const half* d_a, const half* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    const dim3 blocks((sizes.n + kSide - 1) / kSide, (sizes.m + kSide - 1) / kSide);
    multiply_any_kernel<<<blocks, kLanes>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}
