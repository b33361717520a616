// SPDX-License-Identifier: MIT
// What is timed of lesson 23: counting the hits among n samples, on a grid that fills the card.
#include <atomic>

#include "monte_carlo_pi.h"
#include "workloads/workload_data.h"

namespace {

constexpr uint64_t kSeed = 12345;
constexpr int kThreads = 256;

bool inside(uint32_t word) {
    const double x = int16_t(word), y = int16_t(word >> 16);
    return x * x + y * y < double(kRadius) * kRadius;
}

class CountHits final : public wb::Workload {
public:
    explicit CountHits(size_t n) : n_(n), d_hits_(std::vector<unsigned long long>{0}) {}
    void prepare() override {
        CUDA_CHECK(cudaMemsetAsync(d_hits_.get(), 0, sizeof(unsigned long long)));
    }
    void run() override { count_hits(kSeed, 0, n_, d_hits_.get(), full_grid(kThreads), kThreads); }
    void reference() override {
        std::atomic<uint64_t> hits = 0;
        const uint64_t quads = (n_ + kPerQuad - 1) / kPerQuad;
        wb::in_parallel(quads, [&](size_t begin, size_t end) {
            uint64_t mine = 0;
            for (uint64_t q = begin; q < end; ++q) {
                const uint4 quad = random_quad(kSeed, q);
                const uint32_t words[] = {quad.x, quad.y, quad.z, quad.w};
                for (uint64_t k = 0; k < kPerQuad && q * kPerQuad + k < n_; ++k)
                    mine += inside(words[k]);
            }
            hits += mine;
        });
        want_ = hits;
    }
    size_t reference_elements() const override { return n_; }
    std::string verify() override {
        const uint64_t got = d_hits_.download()[0];
        if (got == want_) return "";
        return wb::shown(got) + " hits, want " + wb::shown(want_);
    }
    double bytes() const override { return 8; }  // the total
    const char* unit() const override { return "points"; }
    // One quad for four samples: 20 products, 40 exclusive ors; each sample: 2 products, 2 sums, 1
    // comparison.
    double operations() const override { return 20.0 * double(n_); }

private:
    uint64_t n_, want_ = 0;
    wb::DeviceBuffer<unsigned long long> d_hits_;
};
WORKLOAD(CountHits, "counts the hits among random points", size_t(1) << 28, 100003);

}  // namespace
