// SPDX-License-Identifier: MIT
// The timed workloads of lesson 32: upload, kernel and download of many samples in sixteen chunks,
// from pinned memory and through stages.
#include "streams_overlap.h"
#include "workloads/workload_data.h"

#include <cmath>

namespace {

constexpr int kStreams = 4, kChunks = 16;

float linear(float x) {
    float y = x;
    for (int step = 0; step < 30; ++step) y = std::fmaf(-0.25f * y * y, y, x);
    return y;
}

// One period of samples, repeated in host memory.
class Samples : public wb::Workload {
public:
    explicit Samples(size_t n)
        : n_(int(n)), chunk_((n_ + kChunks - 1) / kChunks),
          values_(wb::random_floats(std::min(n, wb::kPeriod), 1)) {}
    void reference() override {
        want_.resize(values_.size());
        wb::in_parallel(want_.size(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) want_[i] = linear(values_[i]);
        });
    }
    size_t reference_elements() const override { return values_.size(); }
    double bytes() const override { return 8.0 * n_; }
    const char* unit() const override { return "samples"; }
    bool on_host() const override { return true; }

protected:
    void fill(float* in) const {
        for (int i = 0; i < n_; ++i) in[i] = values_[size_t(i) % values_.size()];
    }
    std::string compare(const float* out) const {
        for (int i = 0; i < n_; ++i) {
            const float want = want_[size_t(i) % want_.size()];
            if (!(out[i] == want))
                return "element " + std::to_string(i) + ": got " + std::to_string(out[i]) +
                       ", want " + std::to_string(want);
        }
        return "";
    }
    int n_, chunk_;

private:
    std::vector<float> values_, want_;
};

class Chunks final : public Samples {
public:
    explicit Chunks(size_t n) : Samples(n), d_data_(n) {
        CUDA_CHECK(cudaMallocHost(&in_, n * sizeof(float)));
        CUDA_CHECK(cudaMallocHost(&out_, n * sizeof(float)));
        fill(in_);
        std::memset(out_, 0xFF, n * sizeof(float));
        for (cudaStream_t& stream : streams_)
            CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    ~Chunks() override {
        cudaFreeHost(in_);
        cudaFreeHost(out_);
        for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    }
    void run() override {
        linearize_chunks(in_, out_, d_data_.get(), n_, chunk_, streams_, kStreams);
    }
    std::string verify() override {
        CUDA_CHECK(cudaDeviceSynchronize());
        return compare(out_);
    }

private:
    float *in_ = nullptr, *out_ = nullptr;
    wb::DeviceBuffer<float> d_data_;
    cudaStream_t streams_[kStreams] = {};
};
WORKLOAD(Chunks, "makes samples linear, from pinned memory", 1 << 26, 100003);

class Staged final : public Samples {
public:
    explicit Staged(size_t n) : Samples(n), in_(n), out_(n) {
        fill(in_.data());
        std::memset(out_.data(), 0xFF, n * sizeof(float));
        make_stages(stages_, kStreams, chunk_);
    }
    ~Staged() override { free_stages(stages_, kStreams); }
    void run() override {
        linearize_staged(in_.data(), out_.data(), n_, chunk_, stages_, kStreams);
    }
    std::string verify() override { return compare(out_.data()); }

private:
    std::vector<float> in_, out_;
    Stage stages_[kStreams] = {};
};
WORKLOAD(Staged, "makes samples linear, through stages", 1 << 26, 50021);

}  // namespace
