// Variant: a sum loads 16 bytes at a time, and each thread keeps eight loads under way.
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
    auto value = Op::identity();
    const int step = gridDim.x * blockDim.x;
#pragma unroll 8  // the loads of eight rounds are under way together
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        value = Op::combine(value, op.map(i));
    }
    value = block_reduce<Op>(value);
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

// Four neighbours at once: 16 bytes, where the address allows it. The order of the additions is the
// same either way.
template <bool kAligned>
__device__ float4 four(const float* x, int vector) {
    if constexpr (kAligned) return reinterpret_cast<const float4*>(x)[vector];
    const float* from = x + 4 * static_cast<size_t>(vector);
    return make_float4(from[0], from[1], from[2], from[3]);
}

// Two blocks of 512 threads are at work at a time on each of 132 multiprocessors, and there are
// three such rounds: who is done sooner takes the next block, and none waits for the others for
// long. The number is the same on every card, and so is the order of the additions.
static constexpr int kWideThreads = 512;
static constexpr int kBlocksEach = 2;
static constexpr int kRounds = 3;
static constexpr int kLoads = 8;  // of a thread, under way at one time
static constexpr int kWideBlocks = kRounds * kBlocksEach * 132;
static_assert(kWideBlocks <= kMaxBlocks);

// Each block leaves the sum of its part in `partial`. A thread keeps four sums, one for each float
// of a vector, so that no addition waits for the one before; and it starts eight loads before it
// needs the first: a multiprocessor then has 128 kB under way, enough to hide the memory's
// latency at full bandwidth.
template <bool kAligned>
__global__ void __launch_bounds__(kWideThreads, kBlocksEach)
    sum_wide_kernel(const float* x, int n, double* partial) {
    double sums[4] = {0, 0, 0, 0};
    const auto add = [&](float4 v) {
        sums[0] += v.x;
        sums[1] += v.y;
        sums[2] += v.z;
        sums[3] += v.w;
    };
    const int vectors = n / 4, me = blockIdx.x * blockDim.x + threadIdx.x;
    const int tile = kLoads * blockDim.x;  // neighbouring vectors, for one round of a block
    for (int i = blockIdx.x * tile + threadIdx.x; i < vectors; i += gridDim.x * tile) {
        float4 v[kLoads] = {};
#pragma unroll
        for (int k = 0; k < kLoads; ++k) {
            const int mine = i + k * blockDim.x;
            if (mine < vectors) v[k] = four<kAligned>(x, mine);
        }
#pragma unroll
        for (int k = 0; k < kLoads; ++k) add(v[k]);
    }
    if (me < n % 4) sums[0] += x[4 * static_cast<size_t>(vectors) + me];
    const double sum = block_reduce<Sum>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

void sum(const float* d_x, int n, void* d_scratch, double* d_result) {
    auto* d_partial = static_cast<double*>(d_scratch);
    const int wanted = n / 4 / (kLoads * kWideThreads) + 1;  // at most three floats are left over
    const int blocks = wanted < kWideBlocks ? wanted : kWideBlocks;
    const bool aligned = reinterpret_cast<size_t>(d_x) % sizeof(float4) == 0;
    const auto kernel = aligned ? sum_wide_kernel<true> : sum_wide_kernel<false>;
    kernel<<<blocks, kWideThreads>>>(d_x, n, d_partial);
    CUDA_CHECK(cudaGetLastError());
    // A thread for each block's value: all of them are loaded at once.
    finish_kernel<Sum><<<1, kMaxBlockThreads>>>(d_partial, blocks, d_result);
    CUDA_CHECK(cudaGetLastError());
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
