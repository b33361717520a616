// SPDX-License-Identifier: MIT
// The timed work of lesson 39: a relay. An array goes from stream to stream, 100 times by each
// protocol, and each stream multiplies it by a factor that undoes the one before.
#include "python_interop.h"
#include "workloads/workload_data.h"

#include <memory>

namespace {

class Relay : public wb::Workload {
public:
    explicit Relay(size_t n)
        : start_(wb::random_floats(n, 39)), memory_(std::make_shared<wb::DeviceBuffer<float>>(n)) {
        for (cudaStream_t& stream : streams_)
            CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    ~Relay() override {
        cudaDeviceSynchronize();
        for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    }
    void prepare() override { memory_->upload(start_); }
    void run() override {
        Array array{};
        array.memory = std::shared_ptr<void>(memory_, memory_->get());
        array.type = {'f', 4};
        array.layout.ndim = 1;
        array.layout.shape[0] = int64_t(start_.size());
        array.layout.strides[0] = 1;
        for (int round = 0; round < kRounds; ++round) {
            array = hand_over(array, streams_[round % 2]);
            scale(array, round % 2 ? 0.5 : 2.0);
        }
        array = hand_over(array, cudaStreamLegacy);  // the stream that is timed
    }
    void reference() override {
        want_ = start_;
        for (int round = 0; round < kRounds; ++round)
            for (float& value : want_) value *= round % 2 ? 0.5f : 2.0f;
    }
    size_t reference_elements() const override { return start_.size(); }
    std::string verify() override { return wb::mismatch(memory_->download(), want_); }
    double bytes() const override { return 8.0 * double(start_.size()) * kRounds; }

protected:
    virtual Array hand_over(const Array& array, cudaStream_t stream) const = 0;

private:
    static constexpr int kRounds = 100;
    std::vector<float> start_, want_;
    std::shared_ptr<wb::DeviceBuffer<float>> memory_;
    cudaStream_t streams_[2];
};

class ByDlpack final : public Relay {
    using Relay::Relay;
    Array hand_over(const Array& array, cudaStream_t stream) const override {
        return import_dlpack(export_dlpack(array, int64_t(stream)), stream);
    }
};
WORKLOAD(ByDlpack, "100 times to another stream by DLPack", 1 << 20, 1003);

class ByInterface final : public Relay {
    using Relay::Relay;
    Array hand_over(const Array& array, cudaStream_t stream) const override {
        return import_cai(export_cai(array), array.memory, stream);
    }
};
WORKLOAD(ByInterface, "100 times to another stream by the interface", 1 << 20, 1003);

}  // namespace
