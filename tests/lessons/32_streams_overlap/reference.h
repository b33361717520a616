// SPDX-License-Identifier: MIT
// The references of lesson 32's tests, and the pinned memory, streams and stages for a call.
#pragma once

#include "lesson_test.h"
#include "streams_overlap.h"

#include <cmath>

namespace {

using Floats = std::vector<float>;

inline float linear(float x) {
    float y = x;
    for (int step = 0; step < 30; ++step) y = std::fmaf(-0.25f * y * y, y, x);
    return y;
}

inline Floats linear(const Floats& in) {
    Floats out(in.size());
    for (size_t i = 0; i < in.size(); ++i) out[i] = linear(in[i]);
    return out;
}

// The filling of results that have not been written: the NaN of device buffers.
inline Floats unwritten(size_t size) {
    Floats values(size);
    if (size) std::memset(values.data(), 0xFF, size * sizeof(float));
    return values;
}

// Pinned memory, NaN at first.
class Pinned {
public:
    explicit Pinned(size_t size) : size_(size) {
        float* out;  // messages name the array by this
        CUDA_CHECK(cudaMallocHost(&out, (size_ + 1) * sizeof(float)));
        data_ = out;
        std::memset(data_, 0xFF, (size_ + 1) * sizeof(float));
    }
    explicit Pinned(const Floats& values) : Pinned(values.size()) {
        std::copy(values.begin(), values.end(), data_);
    }
    ~Pinned() { cudaFreeHost(data_); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    float* get() { return data_; }
    // The test reads no data while copies or kernels are still running.
    Floats values() const { return Floats(data_, data_ + size_); }

private:
    float* data_ = nullptr;
    size_t size_;
};

// Streams that do not wait for the default stream, or ordinary streams.
class Streams {
public:
    explicit Streams(int count, unsigned flags = cudaStreamNonBlocking) : all_(count) {
        for (cudaStream_t& one : all_) CUDA_CHECK(cudaStreamCreateWithFlags(&one, flags));
    }
    ~Streams() {
        for (cudaStream_t one : all_) cudaStreamDestroy(one);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;
    const cudaStream_t* get() const { return all_.data(); }
    int count() const { return int(all_.size()); }

private:
    std::vector<cudaStream_t> all_;
};

// The stages that make_stages should create, created here so that task 4 does not need task 3.
class Stages {
public:
    Stages(int count, int chunk) : all_(count) {
        for (Stage& s : all_) {
            CUDA_CHECK(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
            float *in, *out;  // messages name the arrays by these
            CUDA_CHECK(cudaMallocHost(&in, chunk * sizeof(float)));
            CUDA_CHECK(cudaMallocHost(&out, chunk * sizeof(float)));
            s.in = in;
            s.out = out;
            std::memset(in, 0xFF, chunk * sizeof(float));
            std::memset(out, 0xFF, chunk * sizeof(float));
            CUDA_CHECK(cudaMalloc(&s.d_data, chunk * sizeof(float)));
            CUDA_CHECK(cudaMemset(s.d_data, 0xFF, chunk * sizeof(float)));
            CUDA_CHECK(cudaEventCreateWithFlags(&s.done, cudaEventDisableTiming));
        }
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    ~Stages() {
        cudaDeviceSynchronize();
        for (Stage& s : all_) {
            cudaStreamDestroy(s.stream);
            cudaFreeHost(s.in);
            cudaFreeHost(s.out);
            cudaFree(s.d_data);
            cudaEventDestroy(s.done);
        }
    }
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;
    const Stage* get() const { return all_.data(); }
    int count() const { return int(all_.size()); }

private:
    std::vector<Stage> all_;
};

}  // namespace
