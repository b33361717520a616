// SPDX-License-Identifier: MIT
// For the figures of lessons 06, 11 and 16: reads with a stride, columns of a tile with rows of
// several widths, and the most arithmetic that the card does.
#include "common/harness/workloads/workload_data.h"

namespace {

// Neighbouring lanes read `stride` floats apart. Each line of the array is read by one block, all
// of its floats in the end, so that the same data move whatever the stride; what differs is how
// many sectors a warp asks for at a time.
__global__ void strided_kernel(const float* in, float* out, int stride) {
    const unsigned span = blockDim.x * stride;  // floats that one trip of the block lies across
    const size_t first = size_t(blockIdx.x) * span;
    float sum = 0;
    sum += in[first + size_t(threadIdx.x) * stride];
    out[size_t(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

template <int kStride>
class Strided : public wb::Workload {
public:
    static constexpr int kThreads = 256;
    explicit Strided(size_t n)
        : blocks_(std::max<size_t>(1, n / kStride / kThreads)),
          in_(wb::repeated_floats(blocks_ * kThreads * kStride, 1)), d_out_(blocks_ * kThreads) {}
    void run() override {
        strided_kernel<<<unsigned(blocks_), kThreads>>>(in_.get(), d_out_.get(), kStride);
        CUDA_CHECK(cudaGetLastError());
    }
    void reference() override {}
    size_t reference_elements() const override { return 0; }
    std::string verify() override {
        const auto& values = in_.values();
        return wb::device_mismatch<float>(d_out_.get(), d_out_.size(), [&](size_t i) {
            return values[i * kStride % values.size()];
        });
    }
    double bytes() const override { return 8.0 * double(d_out_.size()); }  // wanted, not moved

private:
    size_t blocks_;
    wb::Repeated<float> in_;
    wb::DeviceBuffer<float> d_out_;
};
#define STRIDED(stride)                                                                            \
    struct Strided##stride final : Strided<stride> {                                               \
        using Strided::Strided;                                                                    \
    };                                                                                             \
    WORKLOAD(Strided##stride, "reads every " #stride ". float", 1 << 28, 65536)
STRIDED(1);
STRIDED(2);
STRIDED(3);
STRIDED(4);
STRIDED(6);
STRIDED(8);
STRIDED(12);
STRIDED(16);
STRIDED(24);
STRIDED(32);

// Each warp reads columns of a tile whose rows are kWidth floats wide, again and again.
template <int kWidth>
__global__ void columns_kernel(float* out, int rounds) {
    __shared__ float tile[32 * kWidth];
    for (int i = threadIdx.x; i < 32 * kWidth; i += blockDim.x) tile[i] = float(i % 7);
    __syncthreads();  // below, a thread reads slots that others have filled
    const int lane = threadIdx.x % 32;
    const volatile float* column = tile + lane * kWidth;  // volatile: each round reads anew
    float sum = 0;
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int c = 0; c < 32; ++c) sum += column[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// n reads of 4 bytes from shared memory.
template <int kWidth>
class Columns : public wb::Workload {
public:
    static constexpr int kThreads = 256, kRounds = 16;
    explicit Columns(size_t n)
        : blocks_(std::max<size_t>(1, n / kThreads / kRounds / 32)), d_out_(blocks_ * kThreads) {}
    void run() override {
        columns_kernel<kWidth><<<unsigned(blocks_), kThreads>>>(d_out_.get(), kRounds);
        CUDA_CHECK(cudaGetLastError());
    }
    void reference() override {}
    size_t reference_elements() const override { return 0; }
    std::string verify() override {
        return wb::device_mismatch<float>(d_out_.get(), d_out_.size(), [](size_t i) {
            float sum = 0;
            for (int c = 0; c < 32; ++c) sum += float((i % 32 * kWidth + c) % 7);
            return kRounds * sum;
        });
    }
    double bytes() const override { return 4.0 * 32 * kRounds * double(d_out_.size()); }

private:
    size_t blocks_;
    wb::DeviceBuffer<float> d_out_;
};
#define COLUMNS(width)                                                                             \
    struct Columns##width final : Columns<width> {                                                 \
        using Columns::Columns;                                                                    \
    };                                                                                             \
    WORKLOAD(Columns##width, "columns of a tile, rows of " #width " floats", 1 << 30, 1 << 17)
COLUMNS(32);
COLUMNS(33);
COLUMNS(34);
COLUMNS(35);
COLUMNS(36);
COLUMNS(40);
COLUMNS(48);
COLUMNS(64);

// Chains of multiplications and additions in registers: eight for each thread.
template <class T>
__global__ void arithmetic_kernel(T* out, T factor, T summand, int rounds) {
    T x[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = T(threadIdx.x % 8 + k);
#pragma unroll 16
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < 8; ++k) x[k] = x[k] * factor + summand;
    T sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += x[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// n operations. Half the factor and so many rounds that each chain ends near 2 * the summand.
template <class T>
class Arithmetic : public wb::Workload {
public:
    static constexpr int kThreads = 256, kRounds = 1024;
    explicit Arithmetic(size_t n)
        : blocks_(std::max<size_t>(1, n / kThreads / kRounds / 16)), d_out_(blocks_ * kThreads) {}
    void run() override {
        arithmetic_kernel<T><<<unsigned(blocks_), kThreads>>>(d_out_.get(), T(0.5), T(3), kRounds);
        CUDA_CHECK(cudaGetLastError());
    }
    void reference() override {}
    size_t reference_elements() const override { return 0; }
    std::string verify() override {
        return wb::device_mismatch<T>(
            d_out_.get(), d_out_.size(), [](size_t) { return T(48); }, [](T) { return 1e-4; });
    }
    double bytes() const override { return double(sizeof(T)) * double(d_out_.size()); }
    double operations() const override { return 16.0 * kRounds * double(d_out_.size()); }

private:
    size_t blocks_;
    wb::DeviceBuffer<T> d_out_;
};
struct InFloat final : Arithmetic<float> {
    using Arithmetic::Arithmetic;
};
struct InDouble final : Arithmetic<double> {
    using Arithmetic::Arithmetic;
};
WORKLOAD(InFloat, "multiplies and adds in float", size_t(1) << 37, 1 << 16);
WORKLOAD(InDouble, "multiplies and adds in double", size_t(1) << 36, 1 << 16);

}  // namespace
