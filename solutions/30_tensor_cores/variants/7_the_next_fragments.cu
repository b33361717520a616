// Variant: the next fragments are loaded while this step multiplies; blocks side by side share L2.
// SPDX-License-Identifier: MIT
// Lesson 30, tensor cores: a warp multiplies 16 x 16 matrices of half in one instruction.
// Start with README.md in this directory; `make 30` checks this file.
#include "tensor_cores.h"

#include <cuda_pipeline_primitives.h>
#include <mma.h>

#include <type_traits>

namespace wmma = nvcuda::wmma;

static constexpr int kLanes = 32;
static constexpr int kWarps = 4;  // in each block of task 3

// A block computes kTall x kWide elements of C, and each of its warps kEach x kEach fragments. In
// each round the block loads a slab: kDeep columns of A and kDeep rows of B.
static constexpr int kTall = 128;
static constexpr int kWide = 256;
static constexpr int kDeep = 32;
static constexpr int kEach = 4;
static constexpr int kWarpsDown = kTall / (kEach * kSide), kWarpsAcross = kWide / (kEach * kSide);
static constexpr int kWarpsOfAny = kWarpsDown * kWarpsAcross;
static constexpr int kThreads = kWarpsOfAny * kLanes;
static constexpr int kSteps = kDeep / kSide;  // in each slab
static_assert(kSteps % 2 == 0, "a slab ends where the next begins: with the second operands");
// Rows in shared memory are longer by kSkew, so that eight rows of a fragment use different banks.
static constexpr int kSkew = 8;
// Rows of blocks that are computed together, column after column.
static constexpr int kGroup = 8;

struct alignas(32) Slabs {
    half a[kTall][kDeep + kSkew];
    half b[kDeep][kWide + kSkew];
};
// A fragment of C for each warp, before its elements are copied to C, which may not have all of
// them.
struct alignas(32) Parts {
    float c[kWarpsOfAny][kSide][kSide + kSkew];
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

// The part of each slab that a thread copies, 16 bytes at a time. Its addresses advance by
// addition: computing them anew for each slab would take registers and instructions from the
// products.
class WholeSlabs {
public:
    __device__ WholeSlabs(const half* a, const half* b, Sizes s, int top, int left) {
        const int thread = threadIdx.y * kLanes + threadIdx.x;
        a_row_ = thread / (kDeep / 8), a_col_ = thread % (kDeep / 8) * 8;
        b_row_ = thread / (kWide / 8), b_col_ = thread % (kWide / 8) * 8;
        a_ = a + offset(top + a_row_, a_col_, s.a_pitch), a_pitch_ = s.a_pitch;
        b_ = b + offset(b_row_, left + b_col_, s.b_pitch), b_pitch_ = s.b_pitch;
    }

    // Starts to copy the next slab.
    __device__ void load(Slabs& to) {
        constexpr int kRowsOfA = kThreads / (kDeep / 8), kRowsOfB = kThreads / (kWide / 8);
#pragma unroll
        for (int row = 0; row < kTall; row += kRowsOfA) {
            __pipeline_memcpy_async(&to.a[row + a_row_][a_col_], a_ + offset(row, 0, a_pitch_), 16);
        }
#pragma unroll
        for (int row = 0; row < kDeep; row += kRowsOfB) {
            __pipeline_memcpy_async(&to.b[row + b_row_][b_col_], b_ + offset(row, 0, b_pitch_), 16);
        }
        a_ += kDeep;
        b_ += offset(kDeep, 0, b_pitch_);
    }

private:
    const half *a_, *b_;
    int a_pitch_, b_pitch_, a_row_, a_col_, b_row_, b_col_;
};

// The same for matrices that may not have all elements, or not at multiples of 16 bytes.
class AnySlabs {
public:
    __device__ AnySlabs(const half* a, const half* b, Sizes s, int top, int left)
        : a_(a), b_(b), s_(s), top_(top), left_(left) {}

    __device__ void load(Slabs& to) {
        const int thread = threadIdx.y * kLanes + threadIdx.x;
        const half zero = __float2half(0.0f);
        for (int slot = thread; slot < kTall * kDeep; slot += kThreads) {
            const int row = slot / kDeep, col = slot % kDeep;
            const bool in_a = top_ + row < s_.m && first_ + col < s_.k;
            to.a[row][col] = in_a ? a_[offset(top_ + row, first_ + col, s_.a_pitch)] : zero;
        }
        for (int slot = thread; slot < kDeep * kWide; slot += kThreads) {
            const int row = slot / kWide, col = slot % kWide;
            const bool in_b = first_ + row < s_.k && left_ + col < s_.n;
            to.b[row][col] = in_b ? b_[offset(first_ + row, left_ + col, s_.b_pitch)] : zero;
        }
        first_ += kDeep;
    }

private:
    const half *a_, *b_;
    const Sizes s_;
    const int top_, left_;
    int first_ = 0;
};

// The operands of a warp in one step: its part of kSide columns of A and kSide rows of B.
struct Operands {
    PartOfA a[kEach];
    PartOfB<wmma::row_major> b[kEach];

    __device__ void load(const Slabs& slabs, int step, int warp_top, int warp_left) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const half* part = &slabs.a[warp_top + i * kSide][step * kSide];
            wmma::load_matrix_sync(a[i], part, kDeep + kSkew);
        }
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const half* part = &slabs.b[step * kSide][warp_left + j * kSide];
            wmma::load_matrix_sync(b[j], part, kWide + kSkew);
        }
    }

    // Rows of fragments are walked in alternating directions, so that the last fragment of B is
    // used again.
    __device__ void multiply(PartOfC (&sums)[kEach][kEach]) const {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
#pragma unroll
            for (int slot = 0; slot < kEach; ++slot) {
                const int j = i % 2 == 0 ? slot : kEach - 1 - slot;
                wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
            }
        }
    }
};

// The elements of C that a block computes. Blocks start in the order of their numbers. Blocks that
// run at the same time compute a part of C that is about as high as wide, so that the rows of A and
// columns of B that they share stay in the L2 cache.
__device__ int2 first_element() {
    const int block = blockIdx.y * gridDim.x + blockIdx.x;
    const int in_group = kGroup * gridDim.x;
    const int group = block / in_group;
    const int rows = min(kGroup, static_cast<int>(gridDim.y) - group * kGroup);
    const int place = block % in_group;
    return make_int2(place / rows * kWide, (group * kGroup + place % rows) * kTall);
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

// Launched with kThreads threads for each kTall x kWide elements of C, and shared memory for kSlabs
// slabs. `kWhole`: A, B and C have all their elements, in rows that begin at multiples of 16 bytes.
// There is one barrier for each slab: after it the next slab is complete, and the slab before may
// be overwritten.
template <bool kWhole, int kSlabs>
__global__ void __launch_bounds__(kThreads)
    multiply_any_kernel(const half* a, const half* b, float* c, Sizes s) {
    extern __shared__ __align__(32) unsigned char memory[];
    Slabs* const slabs = reinterpret_cast<Slabs*>(memory);
    const auto [left, top] = first_element();
    const int warp_top = threadIdx.y / kWarpsAcross * kEach * kSide;
    const int warp_left = threadIdx.y % kWarpsAcross * kEach * kSide;
    // At the edge of C a warp may have nothing to multiply.
    const bool has_part = kWhole || (top + warp_top < s.m && left + warp_left < s.n);
    PartOfC sums[kEach][kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
    }
    // A group of copies for each slab, also after the last slab: so only the last kSlabs - 2 groups
    // may still be unfinished.
    std::conditional_t<kWhole, WholeSlabs, AnySlabs> loader(a, b, s, top, left);
    for (int i = 0; i < kSlabs - 1; ++i) {
        if (i * kDeep < s.k) loader.load(slabs[i]);
        __pipeline_commit();
    }
    Operands operands[2];  // of this step, and of the next
    __pipeline_wait_prior(kSlabs - 2);
    __syncthreads();
    if (has_part && s.k > 0) operands[0].load(slabs[0], 0, warp_top, warp_left);
    int now = 0, last = kSlabs - 1;
    for (int first = 0; first < s.k; first += kDeep) {
        const int next = now + 1 == kSlabs ? 0 : now + 1;
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            Operands& ahead = operands[(step + 1) % 2];
            if (step + 1 < kSteps) {
                if (has_part) ahead.load(slabs[now], step + 1, warp_top, warp_left);
            } else {
                __pipeline_wait_prior(kSlabs - 2);
                __syncthreads();
                if (has_part && first + kDeep < s.k) {
                    ahead.load(slabs[next], 0, warp_top, warp_left);
                }
            }
            if (step == 0) {
                if (first + (kSlabs - 1) * kDeep < s.k) loader.load(slabs[last]);
                __pipeline_commit();
            }
            if (has_part) operands[step % 2].multiply(sums);
        }
        last = now;
        now = next;
    }
    __syncthreads();  // the slabs' memory is used again
    Parts& parts = *reinterpret_cast<Parts*>(memory);
    store_sums<kWhole>(sums, c, s, top + warp_top, left + warp_left, parts.c[threadIdx.y]);
}

static bool is_aligned(const void* data, size_t bytes) {
    return reinterpret_cast<size_t>(data) % bytes == 0;
}

template <int kSlabs>
static void launch_any(const half* a, const half* b, float* c, Sizes s, bool whole) {
    const auto kernel = whole ? multiply_any_kernel<true, kSlabs>  //
                              : multiply_any_kernel<false, kSlabs>;
    const dim3 blocks((s.n + kWide - 1) / kWide, (s.m + kTall - 1) / kTall);
    constexpr int kBytes = kSlabs * sizeof(Slabs);  // more than a kernel has by default
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<blocks, dim3(kLanes, kWarpsOfAny), kBytes>>>(a, b, c, s);
    CUDA_CHECK(cudaGetLastError());
}

void multiply_any(const half* d_a, const half* d_b, float* d_c, Sizes sizes) {
    const auto [m, n, k, a_pitch, b_pitch, c_pitch] = sizes;
    if (m == 0 || n == 0) return;
    const bool full = m % kTall == 0 && n % kWide == 0 && k % kDeep == 0;
    const bool aligned = is_aligned(d_a, 16) && a_pitch % 8 == 0 && is_aligned(d_b, 16) &&
                         b_pitch % 8 == 0 && is_aligned(d_c, 32) && c_pitch % 4 == 0;
    int device = 0, largest = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&largest, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    // Four slabs if a block can have the memory (from compute capability 8.0 on), else two.
    const auto launch = largest >= static_cast<int>(4 * sizeof(Slabs)) ? launch_any<4>  //
                                                                       : launch_any<2>;
    launch(d_a, d_b, d_c, sizes, full && aligned);
}
