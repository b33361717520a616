// Variant: two slabs are being loaded into shared memory while one is multiplied.
// SPDX-License-Identifier: MIT
// Lesson 30, tensor cores: a warp multiplies 16 x 16 matrices of half in one instruction.
// Start with README.md in this directory; `make 30` checks this file.
#include "tensor_cores.h"

#include <cuda_pipeline_primitives.h>
#include <mma.h>

#include <type_traits>

namespace wmma = nvcuda::wmma;

static constexpr int kLanes = 32;
static constexpr int kWarps = 4;  // in each block of tasks 3 and 4

// A block computes kWide x kWide elements of C, and each warp a quarter: kEach x kEach fragments.
// In each round the block loads a slab: kDeep columns of A and kDeep rows of B.
static constexpr int kWide = 128;
static constexpr int kDeep = 32;
static constexpr int kEach = 4;
static constexpr int kThreads = kWarps * kLanes;
// Rows in shared memory are longer by kSkew, so that eight rows of a fragment use different banks.
static constexpr int kSkew = 8;

// While one slab is multiplied, the next kSlabs - 1 are being loaded.
static constexpr int kSlabs = 3;

struct alignas(32) Slabs {
    half a[kWide][kDeep + kSkew];
    half b[kDeep][kWide + kSkew];
};
// A fragment of C for each warp, before its elements are copied to C, which may not have all of
// them.
struct alignas(32) Parts {
    float c[kWarps][kSide][kSide + kSkew];
};

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

// Copies 16 bytes to shared memory.
__device__ void copy_eight(half* to, const half* from) {
    __pipeline_memcpy_async(to, from, 16);  // from sm_80 on, without registers
}

// All threads of the block load both slabs. `kWhole`: A and B have all their elements, in rows that
// begin at multiples of 16 bytes.
template <bool kWhole>
__device__ void load_slabs(const half* a, const half* b, Sizes s, int top, int left, int first,
                           Slabs& to) {
    const int thread = threadIdx.y * kLanes + threadIdx.x;
    if (kWhole) {
#pragma unroll
        for (int i = 0; i < kWide * kDeep / 8; i += kThreads) {
            const int piece = i + thread;
            // Four lanes for each row of A. The next four lanes take the row that is 4 further on,
            // since neighbouring rows share banks.
            const int a_row = piece / 32 * 8 + piece / 8 % 4 + piece / 4 % 2 * 4;
            const int a_col = piece % 4 * 8;
            copy_eight(&to.a[a_row][a_col], a + offset(top + a_row, first + a_col, s.a_pitch));
            const int b_row = piece / (kWide / 8), b_col = piece % (kWide / 8) * 8;
            copy_eight(&to.b[b_row][b_col], b + offset(first + b_row, left + b_col, s.b_pitch));
        }
        return;
    }
    const half zero = __float2half(0.0f);
    for (int slot = thread; slot < kWide * kDeep; slot += kThreads) {
        const int a_row = slot / kDeep, a_col = slot % kDeep;
        const bool in_a = top + a_row < s.m && first + a_col < s.k;
        to.a[a_row][a_col] = in_a ? a[offset(top + a_row, first + a_col, s.a_pitch)] : zero;
        const int b_row = slot / kWide, b_col = slot % kWide;
        const bool in_b = first + b_row < s.k && left + b_col < s.n;
        to.b[b_row][b_col] = in_b ? b[offset(first + b_row, left + b_col, s.b_pitch)] : zero;
    }
}

// Adds the products of a slab to a warp's fragments of C.
__device__ void add_products(const Slabs& slabs, int warp_top, int warp_left,
                             PartOfC (&sums)[kEach][kEach]) {
#pragma unroll
    for (int p = 0; p < kDeep; p += kSide) {
        PartOfA from_a[kEach];
        PartOfB<wmma::row_major> from_b[kEach];
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const half* part = &slabs.a[warp_top + i * kSide][p];
            wmma::load_matrix_sync(from_a[i], part, kDeep + kSkew);
        }
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const half* part = &slabs.b[p][warp_left + j * kSide];
            wmma::load_matrix_sync(from_b[j], part, kWide + kSkew);
        }
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
#pragma unroll
            for (int j = 0; j < kEach; ++j) {
                wmma::mma_sync(sums[i][j], from_a[i], from_b[j], sums[i][j]);
            }
        }
    }
}

// Stores a warp's fragments from (top, left) on. If C may not have all elements, they pass through
// `part`, which no other warp uses.
template <bool kWhole>
__device__ void store_sums(const PartOfC (&sums)[kEach][kEach], float* c, Sizes s, int top,
                           int left, float (&part)[kSide][kSide + kSkew]) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const int row = top + i * kSide, col = left + j * kSide;
            if (kWhole) {
                float* to = c + offset(row, col, s.c_pitch);
                wmma::store_matrix_sync(to, sums[i][j], s.c_pitch, wmma::mem_row_major);
                continue;
            }
            wmma::store_matrix_sync(&part[0][0], sums[i][j], kSide + kSkew, wmma::mem_row_major);
            __syncwarp();  // below, a lane copies elements that other lanes have stored
            for (int slot = threadIdx.x; slot < kSide * kSide; slot += kLanes) {
                // Rows 0 and 2, then 1 and 3, and so on: neighbours would share banks.
                const int y = slot / 64 * 4 + slot / 16 % 2 * 2 + slot / 32 % 2, x = slot % 16;
                if (row + y >= s.m || col + x >= s.n) continue;
                c[offset(row + y, col + x, s.c_pitch)] = part[y][x];
            }
            __syncwarp();  // the next fragment overwrites the elements that are copied above
        }
    }
}

// Launched with kWarps warps for each kWide x kWide elements of C, and shared memory for kSlabs
// slabs. `kWhole`: as for load_slabs, and the same for C. One barrier for each slab: the slab that
// is loaded next was multiplied before it.
template <bool kWhole>
__global__ void __launch_bounds__(kThreads)
    multiply_any_kernel(const half* a, const half* b, float* c, Sizes s) {
    extern __shared__ __align__(32) unsigned char memory[];
    Slabs* const slabs = reinterpret_cast<Slabs*>(memory);
    const int top = blockIdx.y * kWide, left = blockIdx.x * kWide;
    const int warp_top = threadIdx.y / 2 * (kWide / 2), warp_left = threadIdx.y % 2 * (kWide / 2);
    PartOfC sums[kEach][kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
    }
    // A group of copies for each slab, also after the last slab: so only the last kSlabs - 2 groups
    // may still be unfinished.
    for (int i = 0; i < kSlabs - 1; ++i) {
        if (i * kDeep < s.k) load_slabs<kWhole>(a, b, s, top, left, i * kDeep, slabs[i]);
        __pipeline_commit();
    }
    int now = 0, next = kSlabs - 1;
    for (int first = 0; first < s.k; first += kDeep) {
        __pipeline_wait_prior(kSlabs - 2);
        __syncthreads();  // all copies to this slab have arrived; all warps are done with the last
        const int ahead = first + (kSlabs - 1) * kDeep;
        if (ahead < s.k) load_slabs<kWhole>(a, b, s, top, left, ahead, slabs[next]);
        __pipeline_commit();
        add_products(slabs[now], warp_top, warp_left, sums);
        now = now + 1 == kSlabs ? 0 : now + 1;
        next = next + 1 == kSlabs ? 0 : next + 1;
    }
    __syncthreads();  // the slabs' memory is used again
    Parts& parts = *reinterpret_cast<Parts*>(memory);
    store_sums<kWhole>(sums, c, s, top + warp_top, left + warp_left, parts.c[threadIdx.y]);
}

static bool is_aligned(const void* data, size_t bytes) {
    return reinterpret_cast<size_t>(data) % bytes == 0;
}

void multiply_any(const half* d_a, const half* d_b, float* d_c, Sizes sizes) {
    const auto [m, n, k, a_pitch, b_pitch, c_pitch] = sizes;
    if (m == 0 || n == 0) return;
    const bool full = m % kWide == 0 && n % kWide == 0 && k % kDeep == 0;
    const bool aligned = is_aligned(d_a, 16) && a_pitch % 8 == 0 && is_aligned(d_b, 16) &&
                         b_pitch % 8 == 0 && is_aligned(d_c, 32) && c_pitch % 4 == 0;
    const auto kernel = full && aligned ? multiply_any_kernel<true> : multiply_any_kernel<false>;
    const dim3 blocks((n + kWide - 1) / kWide, (m + kWide - 1) / kWide);
    constexpr int kBytes = kSlabs * sizeof(Slabs);  // more than a kernel has by default
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<blocks, dim3(kLanes, kWarps), kBytes>>>(d_a, d_b, d_c, sizes);
    CUDA_CHECK(cudaGetLastError());
}
