// Unusual: Two tiles take turns, so that one barrier is enough for each; the tile of A lies
// transposed, in rows that are one float longer. Nothing to sum is a matter of the host.
// SPDX-License-Identifier: MIT
// Lesson 29, matrix product: each float that is loaded is used for many elements, first in shared
// memory and then in registers.
// Start with README.md in this directory; `make 29` checks this file.
#include "matmul_tiled.h"

namespace {

// Sets C to 0 and returns true where there is nothing to sum.
bool nothing_to_sum(float* d_c, const Sizes& s) {
    if (s.k > 0 && s.m > 0 && s.n > 0) return false;
    if (s.m > 0 && s.n > 0) {
        CUDA_CHECK(cudaMemset2D(d_c, 4 * size_t(s.c_pitch), 0, 4 * size_t(s.n), s.m));
    }
    return true;
}

__global__ void naive_kernel(const float* __restrict__ a, const float* __restrict__ b,
                             float* __restrict__ c, Sizes s) {
    const int row = blockIdx.y * 16 + threadIdx.x / 16;
    const int col = blockIdx.x * 16 + threadIdx.x % 16;
    if (row < s.m && col < s.n) {
        const float* one = a + size_t(row) * s.a_pitch;
        const float* other = b + col;
        float sum = *one * *other;
        while (++one != a + size_t(row) * s.a_pitch + s.k) {
            other += s.b_pitch;
            sum = __fmaf_rn(*one, *other, sum);
        }
        c[size_t(row) * s.c_pitch + col] = sum;
    }
}

// 256 threads make kWide x kWide elements of C, a piece of kDown x kAcross each.
template <int kWide, int kDown, int kAcross>
__global__ void two_buffers_kernel(const float* a, const float* b, float* c, Sizes s) {
    constexpr int kDeep = 32, kLong = kWide + 1;
    constexpr int kThreadsAcross = kWide / kAcross, kThreadsDown = kWide / kDown;
    static_assert(kThreadsAcross * kThreadsDown == 256);
    __shared__ float of_a[2][kDeep * kLong];
    __shared__ float of_b[2][kDeep * kWide];
    const int t = threadIdx.x;
    const int x = t % kThreadsAcross, y = t / kThreadsAcross;
    const int top = blockIdx.y * kWide, left = blockIdx.x * kWide;
    float sums[kDown][kAcross] = {};
    int buffer = 0;
    for (int first = 0; first < s.k; first += kDeep, buffer = 1 - buffer) {
        for (int i = t; i < kWide * kDeep; i += 256) {
            const int row = top + i / kDeep, p = first + i % kDeep;
            of_a[buffer][i % kDeep * kLong + i / kDeep] =
                row < s.m && p < s.k ? a[size_t(row) * s.a_pitch + p] : 0.0f;
        }
        for (int i = t; i < kWide * kDeep; i += 256) {
            const int p = first + i / kWide, col = left + i % kWide;
            of_b[buffer][i] = p < s.k && col < s.n ? b[size_t(p) * s.b_pitch + col] : 0.0f;
        }
        __syncthreads();  // two rounds later, when this buffer is filled again, all have read it
        const int deep = min(kDeep, s.k - first);
        for (int p = 0; p < deep; ++p) {
            float ones[kDown], others[kAcross];
#pragma unroll
            for (int i = 0; i < kDown; ++i)
                ones[i] = of_a[buffer][p * kLong + y + i * kThreadsDown];
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                others[j] = of_b[buffer][p * kWide + x + j * kThreadsAcross];
            }
#pragma unroll
            for (int e = 0; e < kDown * kAcross; ++e) {
                sums[e / kAcross][e % kAcross] += ones[e / kAcross] * others[e % kAcross];
            }
        }
    }
#pragma unroll
    for (int e = 0; e < kDown * kAcross; ++e) {
        const int row = top + y + e / kAcross * kThreadsDown;
        const int col = left + x + e % kAcross * kThreadsAcross;
        if (row < s.m && col < s.n)
            c[size_t(row) * s.c_pitch + col] = sums[e / kAcross][e % kAcross];
    }
}

}  // namespace

void matmul_naive(const float* d_a, const float* d_b, float* d_c, Sizes s) {
    if (nothing_to_sum(d_c, s)) return;
    naive_kernel<<<dim3((s.n + 15) / 16, (s.m + 15) / 16), 256>>>(d_a, d_b, d_c, s);
    CUDA_CHECK(cudaGetLastError());
}

long long floats_loaded(int m, int n, int k, int tile) {
    long long floats = 0;
    for (int top = 0; top < m; top += tile) floats += n;
    for (int left = 0; left < n; left += tile) floats += m;
    return floats * k;
}

void matmul_tiled(const float* d_a, const float* d_b, float* d_c, Sizes s) {
    if (nothing_to_sum(d_c, s)) return;
    const dim3 blocks((s.n + 31) / 32, (s.m + 31) / 32);
    two_buffers_kernel<32, 4, 1><<<blocks, 256>>>(d_a, d_b, d_c, s);
    CUDA_CHECK(cudaGetLastError());
}

void matmul_registers(const float* d_a, const float* d_b, float* d_c, Sizes s) {
    if (nothing_to_sum(d_c, s)) return;
    const dim3 blocks((s.n + 63) / 64, (s.m + 63) / 64);
    two_buffers_kernel<64, 8, 2><<<blocks, 256>>>(d_a, d_b, d_c, s);
    CUDA_CHECK(cudaGetLastError());
}
