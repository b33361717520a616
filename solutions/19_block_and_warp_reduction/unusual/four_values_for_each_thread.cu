// Unusual: Each thread combines in four values, so that four loads are under way; indexes have 64
// bits.
// SPDX-License-Identifier: MIT
// Lesson 19, block and warp reduction: any reduction, from lanes to warps to blocks to the grid.
// Start with README.md in this directory; `make 19` checks this file.
#include "block_and_warp_reduction.h"

#include <cmath>

[[maybe_unused]] static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;
static constexpr int kMaxBlockThreads = 1024;

// A reduction is described by a struct such as this one. The order in which values are combined is
// not said, so `combine` must give the same whatever the grouping, up to rounding.
struct Sum {
    using Value = double;  // what is combined; 4 or 8 bytes, so that a shuffle can move it
    const float* x;
    __device__ static Value identity() { return 0.0; }  // combine(identity, v) is v
    __device__ Value map(int i) const { return x[i]; }  // the value of element i
    __device__ static Value combine(Value a, Value b) { return a + b; }
    __device__ static double post(Value v) { return v; }  // the result, from the last value
};

struct WeightedSum : Sum {  // like Sum, but for what is said anew
    const float* w;
    __device__ Value map(int i) const { return static_cast<double>(x[i]) * w[i]; }
};

// Called by all 32 lanes of a warp. Lane 0 gets the combination of the 32 values; what the other
// lanes get means nothing.
template <class Op>
__device__ typename Op::Value warp_reduce(typename Op::Value value) {
    for (int step = kLanes / 2; step > 0; step /= 2) {
        value = Op::combine(value, __shfl_down_sync(kAllLanes, value, step));
    }
    return value;
}

// Called by all threads of a block of whole warps, at most 32 of them, once in a kernel. Thread 0
// gets the combination of all threads' values; what the others get means nothing.
template <class Op>
__device__ typename Op::Value block_reduce(typename Op::Value value) {
    __shared__ typename Op::Value of_warp[kMaxBlockThreads / kLanes];
    const int lane = threadIdx.x % kLanes;
    const int warp = threadIdx.x / kLanes;
    const int warps = blockDim.x / kLanes;
    value = warp_reduce<Op>(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();  // below, the first warp reads what the others have left
    if (warp == 0) value = warp_reduce<Op>(lane < warps ? of_warp[lane] : Op::identity());
    return value;
}

__global__ void warp_sums_kernel(Sum op, int n, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double sum = warp_reduce<Sum>(i < n ? op.map(i) : Sum::identity());  // all lanes call it
    if (threadIdx.x % kLanes == 0 && i < n) out[i / kLanes] = static_cast<float>(sum);
}

void warp_sums(const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    warp_sums_kernel<<<(n + kThreads - 1) / kThreads, kThreads>>>(Sum{d_in}, n, d_out);
    CUDA_CHECK(cudaGetLastError());
}

// One block for each row.
__global__ void row_sums_kernel(const float* in, float* out, int cols) {
    const Sum row{in + static_cast<size_t>(blockIdx.x) * cols};
    double sum = Sum::identity();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum = Sum::combine(sum, row.map(i));
    sum = block_reduce<Sum>(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = static_cast<float>(sum);
}

void row_sums(const float* d_in, float* d_out, int rows, int cols) {
    // Whole warps: warp_reduce needs all 32 lanes.
    const int wanted = (cols + kLanes - 1) / kLanes * kLanes;
    const int threads = wanted < kMaxBlockThreads ? wanted : kMaxBlockThreads;
    row_sums_kernel<<<rows, threads>>>(d_in, d_out, cols);
    CUDA_CHECK(cudaGetLastError());
}

// Each block leaves one value in `partial`.
template <class Op>
__global__ void reduce_kernel(Op op, int n, typename Op::Value* partial) {
    typename Op::Value v[4] = {Op::identity(), Op::identity(), Op::identity(), Op::identity()};
    const long long step = (long long)gridDim.x * blockDim.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < n; i += 4 * step)
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = Op::combine(v[k], op.map(int(i + k * step)));
    for (; i < n; i += step) v[0] = Op::combine(v[0], op.map(int(i)));
    auto value = block_reduce<Op>(Op::combine(Op::combine(v[0], v[1]), Op::combine(v[2], v[3])));
    if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

// One block: combines the values of `count` blocks and makes the result of them.
template <class Op, class Result>
__global__ void finish_kernel(const typename Op::Value* partial, int count, Result* result) {
    auto value = Op::identity();
    for (int b = threadIdx.x; b < count; b += blockDim.x) value = Op::combine(value, partial[b]);
    value = block_reduce<Op>(value);
    if (threadIdx.x == 0) *result = Op::post(value);
}

// Two launches: the second waits for all blocks of the first. The number of blocks depends on n
// alone, so that the order of all additions does, too.
template <class Op, class Result>
static void reduce(Op op, int n, void* d_scratch, Result* d_result) {
    auto* d_partial = static_cast<typename Op::Value*>(d_scratch);
    const int wanted = (n + kThreads - 1) / kThreads;
    const int blocks = wanted < kMaxBlocks ? wanted : kMaxBlocks;
    if (blocks > 0) reduce_kernel<<<blocks, kThreads>>>(op, n, d_partial);
    CUDA_CHECK(cudaGetLastError());
    finish_kernel<Op><<<1, kThreads>>>(d_partial, blocks, d_result);
    CUDA_CHECK(cudaGetLastError());
}

void sum(const float* d_x, int n, void* d_scratch, double* d_result) {
    reduce(Sum{d_x}, n, d_scratch, d_result);
}

void weighted_sum(const float* d_x, const float* d_w, int n, void* d_scratch, double* d_result) {
    reduce(WeightedSum{{d_x}, d_w}, n, d_scratch, d_result);
}

struct Norm : Sum {
    __device__ Value map(int i) const {
        const double value = x[i];
        return value * value;
    }
    __device__ static double post(Value v) { return sqrt(v); }
};

void norm(const float* d_x, int n, void* d_scratch, double* d_result) {
    reduce(Norm{{d_x}}, n, d_scratch, d_result);
}

struct Minimum {
    using Value = float;
    const float* x;
    __device__ Value map(int i) const { return x[i]; }
    __device__ static float post(Value v) { return v; }
    __device__ static Value identity() { return INFINITY; }
    __device__ static Value combine(Value a, Value b) {
        return a < b || a != a ? a : b;  // a NaN is the one value that differs from itself
    }
};

void minimum(const float* d_x, int n, void* d_scratch, float* d_result) {
    reduce(Minimum{d_x}, n, d_scratch, d_result);
}

// A value and its index in one number, as in lesson 17: a larger value has the larger key, of equal
// values the one with the lower index has; a NaN is above all numbers. No key is 0.
__device__ static unsigned long long key_of(float value, int index) {
    constexpr unsigned kSign = 0x80000000u;
    const unsigned bits = value != value ? 0x7FFFFFFFu : __float_as_uint(value + 0.0f);
    const unsigned ordered = bits & kSign ? ~bits : bits | kSign;
    return static_cast<unsigned long long>(ordered) << 32 | ~static_cast<unsigned>(index);
}

// The index in a key that is not 0.
__device__ [[maybe_unused]] static int index_in(unsigned long long key) {
    return static_cast<int>(~static_cast<unsigned>(key));
}

struct ArgMax {
    using Value = unsigned long long;
    const float* x;
    __device__ Value map(int i) const { return key_of(x[i], i); }
    __device__ static Value identity() { return 0; }  // below all keys
    __device__ static Value combine(Value a, Value b) { return a > b ? a : b; }
    __device__ static int post(Value v) { return v == identity() ? -1 : index_in(v); }
};

void arg_max(const float* d_x, int n, void* d_scratch, int* d_result) {
    reduce(ArgMax{d_x}, n, d_scratch, d_result);
}
