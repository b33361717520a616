// SPDX-License-Identifier: MIT
// For the figure of bandwidth against size: an addition whose data are on the card, and one whose
// data must travel there and back, from ordinary memory and from pinned memory.
#include "common/harness/workloads/workload_data.h"

namespace {

__global__ void add_kernel(const float4* a, const float4* b, float4* out, size_t vectors) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= vectors) return;
    const float4 x = a[i], y = b[i];
    out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// n is cut to a multiple of 4.
void add(const float* a, const float* b, float* out, size_t n) {
    if (n < 4) return;
    add_kernel<<<unsigned((n / 4 + 255) / 256), 256>>>(reinterpret_cast<const float4*>(a),
                                                       reinterpret_cast<const float4*>(b),
                                                       reinterpret_cast<float4*>(out),
                                                       n / 4);
    CUDA_CHECK(cudaGetLastError());
}

class OnTheCard final : public wb::Elementwise<float> {
public:
    explicit OnTheCard(size_t n)
        : Elementwise(n / 4 * 4), a_(wb::repeated_floats(n_, 1)), b_(wb::repeated_floats(n_, 2)) {}
    void run() override { add(a_.get(), b_.get(), d_out_.get(), n_); }
    void fill(size_t begin, size_t end) override {
        for (size_t i = begin; i < end; ++i) want_[i] = a_.values()[i] + b_.values()[i];
    }
    double bytes() const override { return 12.0 * double(n_); }

private:
    wb::Repeated<float> a_, b_;
};
WORKLOAD(OnTheCard, "adds two vectors on the card", 1 << 26, 100000);

// Host memory that the card reads directly, or ordinary memory.
template <bool kPinned>
struct HostFloats {
    explicit HostFloats(const std::vector<float>& values) : size(values.size()) {
        if (kPinned)
            CUDA_CHECK(cudaMallocHost(&data, size * sizeof(float) + 1));
        else
            data = new float[size];
        std::copy(values.begin(), values.end(), data);
    }
    ~HostFloats() {
        if (kPinned)
            cudaFreeHost(data);
        else
            delete[] data;
    }
    HostFloats(const HostFloats&) = delete;
    HostFloats& operator=(const HostFloats&) = delete;
    float* data = nullptr;
    size_t size;
};

template <bool kPinned>
class Travelling : public wb::Workload {
public:
    explicit Travelling(size_t n)
        : n_(n / 4 * 4), a_(wb::random_floats(n_, 1)), b_(wb::random_floats(n_, 2)),
          out_(std::vector<float>(n_, -9.0f)), d_a_(n_), d_b_(n_), d_out_(n_) {}
    void run() override {
        const size_t bytes = n_ * sizeof(float);
        CUDA_CHECK(cudaMemcpyAsync(d_a_.get(), a_.data, bytes, cudaMemcpyHostToDevice));
        CUDA_CHECK(cudaMemcpyAsync(d_b_.get(), b_.data, bytes, cudaMemcpyHostToDevice));
        add(d_a_.get(), d_b_.get(), d_out_.get(), n_);
        CUDA_CHECK(cudaMemcpyAsync(out_.data, d_out_.get(), bytes, cudaMemcpyDeviceToHost));
    }
    void reference() override {
        want_.resize(n_);
        for (size_t i = 0; i < n_; ++i) want_[i] = a_.data[i] + b_.data[i];
    }
    size_t reference_elements() const override { return n_; }
    std::string verify() override {
        return wb::mismatch(std::vector<float>(out_.data, out_.data + n_), want_);
    }
    double bytes() const override { return 12.0 * double(n_); }
    bool on_host() const override { return true; }

private:
    size_t n_;
    HostFloats<kPinned> a_, b_, out_;
    wb::DeviceBuffer<float> d_a_, d_b_, d_out_;
    std::vector<float> want_;
};
struct FromPageable final : Travelling<false> {
    using Travelling::Travelling;
};
struct FromPinned final : Travelling<true> {
    using Travelling::Travelling;
};
WORKLOAD(FromPageable, "adds two vectors, transfers from ordinary memory", 1 << 25, 100000);
WORKLOAD(FromPinned, "adds two vectors, transfers from pinned memory", 1 << 25, 100000);

}  // namespace
