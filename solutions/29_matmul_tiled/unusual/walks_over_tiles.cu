// Unusual: A few blocks walk over all tiles of C, and shared memory is sized by the launch. The
// tiles of A and B are taken from the last to the first.
// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: each float that is loaded is used for many elements, first in shared
// memory and then in registers.
// Start with README.md in this directory; `make 29` checks this file.
#include "matmul_tiled.h"

#include <algorithm>

namespace {

// A matrix that has zeros everywhere outside.
struct View {
    const float* data;
    int rows, cols, pitch;
    __device__ float at(int row, int col) const {
        if (row >= rows || col >= cols) return 0.0f;
        return data[static_cast<long long>(row) * pitch + col];
    }
};

struct Target {
    float* data;
    int rows, cols, pitch;
    __device__ void set(int row, int col, float value) const {
        if (row < rows && col < cols) data[static_cast<long long>(row) * pitch + col] = value;
    }
};

constexpr int kMostBlocks = 60;

__host__ __device__ int parts(int n, int size) {
    return n / size + (n % size != 0);
}

__global__ void walk_over_elements(View a, View b, Target c) {
    const long long all = static_cast<long long>(c.rows) * c.cols;
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < all;
         i += threads) {
        const int row = int(i / c.cols), col = int(i % c.cols);
        float sum = 0;
        for (int p = a.cols - 1; p >= 0; --p) sum = fmaf(a.at(row, p), b.at(p, col), sum);
        c.set(row, col, sum);
    }
}

// kSide x kSide elements of C by blocks of kSide * kSide / kEach / kEach threads, kEach x kEach
// each.
template <int kSide, int kDeep, int kEach>
__global__ void walk_over_tiles(View a, View b, Target c) {
    extern __shared__ float memory[];
    constexpr int kThreads = kSide / kEach;
    float* const of_a = memory;                  // kSide rows of kDeep
    float* const of_b = memory + kSide * kDeep;  // kDeep rows of kSide
    const int across = parts(c.cols, kSide), tiles = across * parts(c.rows, kSide);
    const int x = threadIdx.x % kThreads, y = threadIdx.x / kThreads;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int top = tile / across * kSide, left = tile % across * kSide;
        float sums[kEach][kEach] = {};
        for (int slab = parts(a.cols, kDeep) - 1; slab >= 0; --slab) {
            __syncthreads();  // the next loads overwrite the slots that were read before
            for (int i = threadIdx.x; i < kSide * kDeep; i += blockDim.x) {
                of_a[i] = a.at(top + i / kDeep, slab * kDeep + i % kDeep);
                of_b[i] = b.at(slab * kDeep + i / kSide, left + i % kSide);
            }
            __syncthreads();
            for (int p = 0; p < kDeep; ++p) {
                for (int i = 0; i < kEach; ++i) {
                    const float one = of_a[(y + i * kThreads) * kDeep + p];
                    for (int j = 0; j < kEach; ++j)
                        sums[i][j] = fmaf(one, of_b[p * kSide + x + j * kThreads], sums[i][j]);
                }
            }
        }
        for (int i = 0; i < kEach; ++i)
            for (int j = 0; j < kEach; ++j)
                c.set(top + y + i * kThreads, left + x + j * kThreads, sums[i][j]);
    }
}

struct Call {
    View a, b;
    Target c;
    Call(const float* d_a, const float* d_b, float* d_c, const Sizes& s)
        : a{d_a, s.m, s.k, s.a_pitch}, b{d_b, s.k, s.n, s.b_pitch}, c{d_c, s.m, s.n, s.c_pitch} {}
};

template <int kSide, int kDeep, int kEach>
void walk(const Call& call) {
    const int tiles = parts(call.c.rows, kSide) * parts(call.c.cols, kSide);
    if (tiles == 0) return;
    const int threads = kSide / kEach * (kSide / kEach);
    const size_t bytes = 2 * kSide * kDeep * sizeof(float);
    walk_over_tiles<kSide, kDeep, kEach>
        <<<std::min(tiles, kMostBlocks), threads, bytes>>>(call.a, call.b, call.c);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void matmul_naive(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    const Call call(d_a, d_b, d_c, sizes);
    const long long all = static_cast<long long>(sizes.m) * sizes.n;
    if (all == 0) return;
    const int blocks = int(std::min<long long>((all + 255) / 256, 100000));
    walk_over_elements<<<blocks, 256>>>(call.a, call.b, call.c);
    CUDA_CHECK(cudaGetLastError());
}

long long floats_loaded(int m, int n, int k, int tile) {
    long long rows = 0, cols = 0;
    for (int left = 0; left < n; left += tile) rows += m;  // of A
    for (int top = 0; top < m; top += tile) cols += n;     // of B
    return (rows + cols) * k;
}

void matmul_tiled(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    walk<32, 32, 1>({d_a, d_b, d_c, sizes});
}

void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes sizes) {
    walk<64, 16, 4>({d_a, d_b, d_c, sizes});
}
