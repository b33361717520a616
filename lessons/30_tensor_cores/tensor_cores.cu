// SPDX-License-Identifier: MIT
// Lesson 30, tensor cores: a warp multiplies 16 x 16 matrices of half in one instruction.
// Start with README.md in this directory; `make 30` checks this file.
#include "tensor_cores.h"

#include <mma.h>

#include <type_traits>

namespace wmma = nvcuda::wmma;

static constexpr int kLanes = 32;
static constexpr int kWarps = 4;  // in each block of tasks 3 and 4

// Task 4: a block computes kWide x kWide elements of C, each warp a quarter: kEach x kEach
// fragments. In each round the block loads a slab: kDeep columns of A and kDeep rows of B.
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

// Launched with one thread for each element of `out`, whose rows are as long as the grid is wide.
__global__ void round_and_pad_kernel(const float* in, half* out, int rows, int cols, int in_pitch) {
    [[maybe_unused]] const int row = blockIdx.y * blockDim.y + threadIdx.y;
    [[maybe_unused]] const int col = blockIdx.x * blockDim.x + threadIdx.x;
    [[maybe_unused]] const int out_pitch = gridDim.x * blockDim.x;
    // TODO 1 (about 2 lines): store the element of `in` as a half, or 0 if `in` has no such
    // element.
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
    return {0, 0};
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

// Launched with kWarps warps for each kWide x kWide elements of C.
__global__ void multiply_any_kernel(const half* a, const half* b, float* c, Sizes s) {
    // TODO 4 (about 45 lines): each warp computes a quarter of the block's elements, kEach x kEach
    // fragments of C. All threads together load a slab: kWide x kDeep halves of A and kDeep x kWide
    // of B, with 0 for missing elements. Then, for each kSide columns of the slab, a warp loads
    // kEach fragments of A and kEach of B, and multiplies each of A by each of B. At the end the
    // block stores its fragments to a tile in shared memory, and copies the elements that C has.
    // END 4
}

void multiply_any(const half* d_a, const half* d_b, float* d_c, Sizes sizes) {
    if (sizes.m == 0 || sizes.n == 0) return;
    const dim3 blocks((sizes.n + kWide - 1) / kWide, (sizes.m + kWide - 1) / kWide);
    multiply_any_kernel<<<blocks, dim3(kLanes, kWarps)>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}
