// SPDX-License-Identifier: MIT
// The timed work of lesson 33: temporary arrays in a loop of small kernels, with the caching
// allocator and with the driver's pool; and rounds in managed memory, with and without prefetching.
#include "memory_pools.h"
#include "workloads/temporaries.h"

namespace {

using Cached = wb::Temporaries<CachingAllocator, launch_fill>;
WORKLOAD(Cached, "3000 temporary arrays in a loop", 1 << 16, 1003);

class Pooled final : public wb::Temporaries<DriverPool, launch_fill> {
public:
    explicit Pooled(size_t n) : Temporaries(n, SIZE_MAX, true) {}
};
WORKLOAD(Pooled, "3000 temporary arrays by the driver's pool", 1 << 16, 1003);

class Managed : public wb::Workload {
public:
    Managed(size_t n, bool prefetch)
        : n_(n), prefetch_(prefetch), start_(wb::random_floats(n, 33, 0, 1)) {
        CUDA_CHECK(cudaMallocManaged(&data_, n * sizeof(float)));
    }
    ~Managed() override { cudaFree(data_); }
    void prepare() override { std::copy(start_.begin(), start_.end(), data_); }
    void run() override { rounds_managed(data_, n_, kTurns, prefetch_, nullptr); }
    void reference() override {
        want_ = start_;
        for (float& x : want_)
            for (int i = 0; i < kTurns; ++i) x = 2 * x + 1;
    }
    size_t reference_elements() const override { return n_; }
    std::string verify() override {
        CUDA_CHECK(cudaDeviceSynchronize());
        return wb::mismatch(
            std::vector<float>(data_, data_ + n_), want_, [](size_t) { return 1e-5; });
    }
    bool on_host() const override { return true; }
    double bytes() const override { return 8.0 * double(n_) * kTurns; }

private:
    static constexpr int kTurns = 3;
    size_t n_;
    bool prefetch_;
    std::vector<float> start_, want_;
    float* data_ = nullptr;
};

class MovesByItself final : public Managed {
public:
    explicit MovesByItself(size_t n) : Managed(n, false) {}
};
WORKLOAD(MovesByItself, "3 rounds in managed memory that moves by itself", 1 << 24, 1003);

class Prefetched final : public Managed {
public:
    explicit Prefetched(size_t n) : Managed(n, true) {}
};
WORKLOAD(Prefetched, "3 rounds in managed memory that is prefetched", 1 << 24, 1003);

}  // namespace
