// Unusual: The bits of positive floats grow like ints, those of negative ones fall like unsigned
// numbers: atomicMax on the one, atomicMin on the other.
// SPDX-License-Identifier: MIT
// Lesson 17, races and atomics: what happens when many threads meet on one address, and four ways
// to make it right.
// Start with README.md in this directory; `make 17` checks this file.
#include "races_and_atomics.h"

#include <cmath>
#include <cstring>

static constexpr int kThreads = 256;

// Blocks of kThreads threads for n elements, one thread each.
static int blocks_for(int n) {
    return (n + kThreads - 1) / kThreads;
}

__global__ void count_kernel(const float* x, int n, float limit, unsigned long long* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) atomicAdd(count, 1ull);
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
    if (i < n && x[i] > limit) out[atomicAdd(count, 1u)] = i;
}

void collect_above(const float* d_x, int n, float limit, int* d_out, unsigned* d_count) {
    CUDA_CHECK(cudaMemset(d_count, 0, sizeof(unsigned)));
    if (n == 0) return;
    collect_above_kernel<<<blocks_for(n), kThreads>>>(d_x, n, limit, d_out, d_count);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void count_by_warps_kernel(const float* x, int n, float limit,
                                      unsigned long long* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool above = i < n && x[i] > limit;
    const unsigned votes = __ballot_sync(0xFFFFFFFFu, above);
    const bool first_lane = threadIdx.x % warpSize == 0;
    if (first_lane && votes != 0) atomicAdd(count, static_cast<unsigned long long>(__popc(votes)));
}

void count_above_by_warps(const float* d_x, int n, float limit, unsigned long long* d_count) {
    if (n == 0) return;
    count_by_warps_kernel<<<blocks_for(n), kThreads>>>(d_x, n, limit, d_count);
    CUDA_CHECK(cudaGetLastError());
}

// Raises *address to `value` if that is larger. CUDA has no atomicMax for floats.
__device__ void atomic_max(float* address, float value) {
    value += 0.0f;  // -0 becomes +0
    if (value >= 0)
        atomicMax((int*)address, __float_as_int(value));
    else
        atomicMin((unsigned*)address, __float_as_uint(value));
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
    constexpr unsigned kSign = 0x80000000u;
    const unsigned bits = bits_of(value + 0.0f);  // -0 becomes +0
    const unsigned ordered = bits & kSign ? ~bits : bits | kSign;
    return static_cast<unsigned long long>(ordered) << 32 | ~index;
}

__host__ __device__ unsigned index_of(unsigned long long packed) {
    return ~static_cast<unsigned>(packed);
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
