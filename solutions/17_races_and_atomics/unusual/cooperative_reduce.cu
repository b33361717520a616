// Unusual: The warp reduces its counts by the library; slots are handed out to a group of lanes.
// SPDX-License-Identifier: MIT
// Lesson 17, races and atomics: what happens when many threads meet on one address, and four ways
// to make it right.
// Start with README.md in this directory; `make 17` checks this file.
#include "races_and_atomics.h"

#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstring>
namespace cg = cooperative_groups;

static constexpr int kThreads = 256;

// Blocks of kThreads threads for n elements, one thread each.
static int blocks_for(int n) {
    return (n + kThreads - 1) / kThreads;
}

__global__ void count_kernel(const float* x, int n, float limit, unsigned long long* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) atomicAdd(count, 1ULL);
}

void count_above(const float* d_x, int n, float limit, unsigned long long* d_count) {
    if (n == 0) return;
    count_kernel<<<blocks_for(n), kThreads>>>(d_x, n, limit, d_count);
    CUDA_CHECK(cudaGetLastError());
}

// *count is 0 at the start.
__global__ void collect_above_kernel(const float* x, int n, float limit, int* out,
                                     unsigned* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) {
        auto g = cg::coalesced_threads();
        unsigned base = 0;
        if (g.thread_rank() == 0) base = atomicAdd(count, g.size());
        out[g.shfl(base, 0) + g.thread_rank()] = i;
    }
}

void collect_above(const float* d_x, int n, float limit, int* d_out, unsigned* d_count) {
    CUDA_CHECK(cudaMemset(d_count, 0, sizeof(unsigned)));
    if (n == 0) return;
    collect_above_kernel<<<blocks_for(n), kThreads>>>(d_x, n, limit, d_out, d_count);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void count_by_warps_kernel(const float* x, int n, float limit,
                                      unsigned long long* count) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int i = cg::this_grid().thread_rank();
    const int all = cg::reduce(warp, i < n && x[i] > limit ? 1 : 0, cg::plus<int>());
    if (warp.thread_rank() == 0 && all) atomicAdd(count, static_cast<unsigned long long>(all));
}

void count_above_by_warps(const float* d_x, int n, float limit, unsigned long long* d_count) {
    if (n == 0) return;
    count_by_warps_kernel<<<blocks_for(n), kThreads>>>(d_x, n, limit, d_count);
    CUDA_CHECK(cudaGetLastError());
}

// Raises *address to `value` if that is larger. CUDA has no atomicMax for floats.
__device__ void atomic_max(float* address, float value) {
    int* bits = (int*)address;
    int old = *bits;
    while (__int_as_float(old) < value) {
        int assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value));
        if (old == assumed) break;
    }
}

__global__ void maximum_kernel(const float* x, int n, float* max) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomic_max(max, x[i]);
}

void maximum(const float* d_x, int n, float* d_max) {
    const float lowest = -INFINITY;
    CUDA_CHECK(cudaMemcpy(d_max, &lowest, sizeof(float), cudaMemcpyHostToDevice));
    if (n == 0) return;
    maximum_kernel<<<blocks_for(n), kThreads>>>(d_x, n, d_max);
    CUDA_CHECK(cudaGetLastError());
}

// The 32 bits of a float: sign, 8 bits of exponent, 23 of fraction.
__host__ __device__ static unsigned bits_of(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

__host__ __device__ unsigned long long pack(float value, unsigned index) {
    if (value == 0.0f) value = 0.0f;
    unsigned bits = bits_of(value);
    if (bits == 0x80000000u) bits = 0;
    if (bits & 0x80000000u)
        bits = ~bits;
    else
        bits |= 0x80000000u;
    return ((unsigned long long)bits << 32) | (0xffffffffu - index);
}

__host__ __device__ unsigned index_of(unsigned long long packed) {
    return 0xffffffffu - (unsigned)packed;
}

__global__ void arg_max_kernel(const float* x, int n, unsigned long long* best) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(best, pack(x[i], i));
}

void arg_max(const float* d_x, int n, unsigned long long* d_best) {
    CUDA_CHECK(cudaMemset(d_best, 0, sizeof *d_best));
    if (n == 0) return;
    arg_max_kernel<<<blocks_for(n), kThreads>>>(d_x, n, d_best);
    CUDA_CHECK(cudaGetLastError());
}
