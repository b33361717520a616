// SPDX-License-Identifier: MIT
// What is timed of lesson 21: histograms of keys that are spread over few and many bins, and of
// keys that are mostly equal.
#include "histogram_shared.h"
#include "lesson_test.h"
#include "workload.h"

namespace {

using Counts = std::vector<unsigned>;
using HistogramIt = void (*)(const int*, int, int, unsigned*);

class Keys : public wb::Workload {
public:
    Keys(std::vector<int> keys, int bins, HistogramIt histogram_it)
        : keys_(std::move(keys)), bins_(bins), histogram_it_(histogram_it), d_keys_(keys_),
          d_counts_(Counts(bins, 0u)) {}
    void prepare() override {
        CUDA_CHECK(cudaMemsetAsync(d_counts_.get(), 0, bins_ * sizeof(unsigned)));
    }
    void run() override { histogram_it_(d_keys_.get(), int(keys_.size()), bins_, d_counts_.get()); }
    std::string verify() override {
        Counts want(bins_, 0u);
        for (const int key : keys_) ++want[key];
        return wb::mismatch(d_counts_.download(), want);
    }
    double bytes() const override { return 4.0 * double(keys_.size()); }

private:
    std::vector<int> keys_;
    int bins_;
    HistogramIt histogram_it_;
    wb::DeviceBuffer<int> d_keys_;
    wb::DeviceBuffer<unsigned> d_counts_;
};

std::vector<int> spread(size_t n, int bins) {
    return wb::random_ints(n, bins, 0, bins - 1);
}

// Fifteen of sixteen keys are 0.
std::vector<int> mostly_equal(size_t n, int bins) {
    std::vector<int> keys = spread(n, bins);
    for (size_t i = 0; i < n; ++i)
        if (i % 16 != 0) keys[i] = 0;
    return keys;
}

struct FewBins final : Keys {
    explicit FewBins(size_t n) : Keys(spread(n, 10), 10, histogram) {}
};
struct ManyBins final : Keys {
    explicit ManyBins(size_t n) : Keys(spread(n, 1200), 1200, histogram) {}
};
struct TooManyBins final : Keys {
    explicit TooManyBins(size_t n) : Keys(spread(n, 100000), 100000, histogram) {}
};
struct EqualKeys final : Keys {
    explicit EqualKeys(size_t n) : Keys(mostly_equal(n, 1200), 1200, histogram) {}
};
struct EqualKeysTogether final : Keys {
    explicit EqualKeysTogether(size_t n) : Keys(mostly_equal(n, 1200), 1200, histogram_skewed) {}
};
WORKLOAD(FewBins, "10 bins, keys spread evenly", 1 << 28, 100003);
WORKLOAD(ManyBins, "1200 bins, keys spread evenly", 1 << 28, 100003);
WORKLOAD(TooManyBins, "100,000 bins, keys spread evenly", 1 << 28, 100003);
WORKLOAD(EqualKeys, "1200 bins, most keys equal", 1 << 28, 100003);
WORKLOAD(EqualKeysTogether, "1200 bins, most keys equal, counted together", 1 << 28, 100003);

}  // namespace
