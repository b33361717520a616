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

// TODO 1 (about 6 lines): this kernel has a race. Launch it from `count_above`, one thread for each
// element; read the finding; repair.
//| __global__ void count_kernel(const float* x, int n, float limit, unsigned long long* count) {
//|     const int i = blockIdx.x * blockDim.x + threadIdx.x;
//|     if (i < n && x[i] > limit) *count += 1;
//| }
//|
//| void count_above(const float*, int, float, unsigned long long*) {}
__global__ void count_kernel(const float* x, int n, float limit, unsigned long long* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) atomicAdd(count, 1ull);
}

void count_above(const float* d_x, int n, float limit, unsigned long long* d_count) {
    if (n == 0) return;
    count_kernel<<<blocks_for(n), kThreads>>>(d_x, n, limit, d_count);
    CUDA_CHECK(cudaGetLastError());
}
// END 1

// *count is 0 at the start.
__global__ void collect_above_kernel(const float* x, int n, float limit, int* out,
                                     unsigned* count) {
    // TODO 2 (about 2 lines): if this thread's element is above the limit, take the next free slot
    // of `out` and store the index there. atomicAdd returns what was there before.
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) out[atomicAdd(count, 1u)] = i;
    // END 2
}

void collect_above(const float* d_x, int n, float limit, int* d_out, unsigned* d_count) {
    CUDA_CHECK(cudaMemset(d_count, 0, sizeof(unsigned)));
    if (n == 0) return;
    collect_above_kernel<<<blocks_for(n), kThreads>>>(d_x, n, limit, d_out, d_count);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void count_by_warps_kernel(const float* x, int n, float limit,
                                      unsigned long long* count) {
    // TODO 3 (about 5 lines): let the warp vote, and one of its lanes add the number of votes. All
    // 32 lanes must take part in the vote, also those without an element.
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool above = i < n && x[i] > limit;
    const unsigned votes = __ballot_sync(0xFFFFFFFFu, above);
    const bool first_lane = threadIdx.x % warpSize == 0;
    if (first_lane && votes != 0) atomicAdd(count, static_cast<unsigned long long>(__popc(votes)));
    // END 3
}

void count_above_by_warps(const float* d_x, int n, float limit, unsigned long long* d_count) {
    if (n == 0) return;
    count_by_warps_kernel<<<blocks_for(n), kThreads>>>(d_x, n, limit, d_count);
    CUDA_CHECK(cudaGetLastError());
}

// Raises *address to `value` if that is larger. CUDA has no atomicMax for floats.
__device__ void atomic_max(float* address, float value) {
    // TODO 4 (about 7 lines): try to exchange the value that you expect there for `value`, with
    // atomicCAS on the bits. If something else was there, go on from that, as long as it is less.
    int* const bits = reinterpret_cast<int*>(address);
    int expected = __float_as_int(-INFINITY);  // a guess: the first exchange returns the truth
    while (value > __int_as_float(expected)) {
        const int found = atomicCAS(bits, expected, __float_as_int(value));
        if (found == expected) break;  // exchanged
        expected = found;
    }
    // END 4
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

// TODO 5 (about 8 lines): put the value into the upper 32 bits, so changed that larger floats have
// larger bits, and the index into the lower ones, so that a lower index is the larger number. Then
// find the largest with one atomic for each element.
//| __host__ __device__ unsigned long long pack(float value, unsigned index) {
//|     return bits_of(value) + index;
//| }
//|
//| __host__ __device__ unsigned index_of(unsigned long long) {
//|     return 0;
//| }
//|
//| __global__ void arg_max_kernel(const float*, int, unsigned long long*) {}
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
// END 5

void arg_max(const float* d_x, int n, unsigned long long* d_best) {
    CUDA_CHECK(cudaMemset(d_best, 0, sizeof *d_best));
    if (n == 0) return;
    arg_max_kernel<<<blocks_for(n), kThreads>>>(d_x, n, d_best);
    CUDA_CHECK(cudaGetLastError());
}
