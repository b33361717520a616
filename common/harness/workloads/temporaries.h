// SPDX-License-Identifier: MIT
// Work that needs temporary arrays: small kernels in a loop, so that what an allocator costs shows.
// For lesson 33 and the allocators that it is compared with.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "common/harness/workloads/workload_data.h"

namespace wb {

// In each of kRounds rounds three temporary arrays are allocated, filled and returned, one after
// the other; the last one of all is copied to the result. Pool has allocate(bytes, stream),
// deallocate(block, stream), used() and total(). kFill(d_data, n, value, stream) sets n floats.
template <class Pool, auto kFill>
class Temporaries : public Workload {
public:
    // `arguments`: the pool's.
    template <class... Arguments>
    explicit Temporaries(size_t n, Arguments... arguments) : n_(n), pool_(arguments...), d_out_(n) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        CUDA_CHECK(cudaDeviceSynchronize());
        run();  // so that the caches are full
    }
    ~Temporaries() override {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    void run() override {
        for (int round = 0; round < kRounds; ++round) {
            for (const size_t n : {n_ / 4 + 1, n_ / 2 + 1, n_}) {
                auto* const array = static_cast<float*>(pool_.allocate(n * sizeof(float), stream_));
                if (!array) return;  // verify() finds out
                kFill(array, n, float(round), stream_);
                if (n == n_ && round == kRounds - 1)
                    CUDA_CHECK(cudaMemcpyAsync(
                        d_out_.get(), array, n * sizeof(float), cudaMemcpyDeviceToDevice, stream_));
                pool_.deallocate(array, stream_);
            }
        }
        CUDA_CHECK(cudaStreamSynchronize(stream_));
    }
    void reference() override { want_.assign(n_, float(kRounds - 1)); }
    size_t reference_elements() const override { return n_; }
    std::string verify() override {
        // A pool may take more from the device than it needs, but not for each array.
        const size_t most = std::max<size_t>(64 << 20, 4 * n_ * sizeof(float));
        if (pool_.used() != 0 || pool_.total() > most)
            return "temporary arrays have taken " + std::to_string(pool_.total()) + " bytes, " +
                   std::to_string(pool_.used()) + " of which were not returned";
        return mismatch(d_out_.download(), want_);
    }
    bool on_host() const override { return true; }
    double bytes() const override { return 7.0 * double(n_) * kRounds; }  // 7/4 n floats a round

private:
    static constexpr int kRounds = 1000;
    size_t n_;
    Pool pool_;
    cudaStream_t stream_ = nullptr;
    std::vector<float> want_;
    DeviceBuffer<float> d_out_;
};

}  // namespace wb
