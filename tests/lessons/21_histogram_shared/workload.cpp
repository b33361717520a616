// SPDX-License-Identifier: MIT
// What is timed of lesson 21: histograms of keys that are spread over few and many bins, and of
// keys that are mostly equal.
#include "histogram_shared.h"
#include "workloads/workload_data.h"

namespace {

using Counts = std::vector<unsigned>;
using HistogramIt = void (*)(const int*, int, int, unsigned*);

// Of 64 keys, kEqual are 0 and the others spread evenly over all bins.
template <HistogramIt kIt, int kBins, int kEqual>
class Keys : public wb::Workload {
public:
    explicit Keys(size_t n)
        : keys_(n, made(std::min(n, wb::kPeriod))), d_counts_(Counts(kBins, 0u)) {}
    void prepare() override {
        CUDA_CHECK(cudaMemsetAsync(d_counts_.get(), 0, kBins * sizeof(unsigned)));
    }
    void run() override { kIt(keys_.get(), int(keys_.size()), kBins, d_counts_.get()); }
    void reference() override {
        want_.assign(kBins, 0u);
        for (size_t i = 0; i < keys_.values().size(); ++i)
            want_[keys_.values()[i]] += unsigned(keys_.count(i));
    }
    size_t reference_elements() const override { return keys_.values().size(); }
    std::string verify() override { return wb::mismatch(d_counts_.download(), want_); }
    double bytes() const override { return 4.0 * double(keys_.size()); }

private:
    static std::vector<int> made(size_t n) {
        std::vector<int> keys = wb::random_ints(n, kBins, 0, kBins - 1);
        for (size_t i = 0; i < n; ++i)
            if (wb::splitmix64(~uint64_t(i)) % 64 < kEqual) keys[i] = 0;
        return keys;
    }
    wb::Repeated<int> keys_;
    wb::DeviceBuffer<unsigned> d_counts_;
    Counts want_;
};

#define KEYS(Name, kind, it, bins, equal, words, elements)                                         \
    struct Name final : Keys<it, bins, equal> {                                                    \
        using Keys::Keys;                                                                          \
    };                                                                                             \
    kind(Name, words, elements, 100003)

KEYS(Bins64, WORKLOAD, histogram, 64, 0, "64 bins", 1 << 28);
KEYS(Bins256, WORKLOAD, histogram, 256, 0, "256 bins", 1 << 28);
KEYS(Bins4096, WORKLOAD, histogram, 4096, 0, "4096 bins", 1 << 28);
KEYS(Equal, WORKLOAD, histogram, 1200, 60, "1200 bins, most keys equal", 1 << 28);
KEYS(EqualTogether, WORKLOAD, histogram_skewed, 1200, 60,
     "1200 bins, most keys equal, counted together", 1 << 28);
KEYS(TooMany, WORKLOAD, histogram, 100000, 0, "100,000 bins", 1 << 26);

// Points of two curves: against the bins, and against the share of equal keys.
KEYS(Bins4, SWEEP_WORKLOAD, histogram, 4, 0, "4 bins", 1 << 27);
KEYS(Bins16, SWEEP_WORKLOAD, histogram, 16, 0, "16 bins", 1 << 27);
KEYS(Bins1024, SWEEP_WORKLOAD, histogram, 1024, 0, "1024 bins", 1 << 27);
KEYS(Bins12288, SWEEP_WORKLOAD, histogram, 12288, 0, "12288 bins", 1 << 27);
KEYS(Skew0, SWEEP_WORKLOAD, histogram, 256, 0, "256 bins, 0 of 64 keys equal", 1 << 27);
KEYS(Skew16, SWEEP_WORKLOAD, histogram, 256, 16, "256 bins, 16 of 64 keys equal", 1 << 27);
KEYS(Skew32, SWEEP_WORKLOAD, histogram, 256, 32, "256 bins, 32 of 64 keys equal", 1 << 27);
KEYS(Skew48, SWEEP_WORKLOAD, histogram, 256, 48, "256 bins, 48 of 64 keys equal", 1 << 27);
KEYS(Skew60, SWEEP_WORKLOAD, histogram, 256, 60, "256 bins, 60 of 64 keys equal", 1 << 27);
KEYS(Skew64, SWEEP_WORKLOAD, histogram, 256, 64, "256 bins, 64 of 64 keys equal", 1 << 27);

}  // namespace
