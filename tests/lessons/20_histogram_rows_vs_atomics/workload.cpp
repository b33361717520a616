// SPDX-License-Identifier: MIT
// What is timed of lesson 20: histograms of floats that are spread evenly, by rows and by atomics.
#include "histogram_rows_vs_atomics.h"
#include "workloads/workload_data.h"

namespace {

using Counts = std::vector<unsigned>;

template <int kBins, bool kByRows>
class Spectrum : public wb::Workload {
public:
    explicit Spectrum(size_t n)
        : x_(wb::repeated_floats(n, 1, 0, 1)), d_counts_(Counts(kBins, 0u)),
          d_rows_(kByRows ? size_t(kRows) * kBins : 0) {}
    void prepare() override {
        CUDA_CHECK(cudaMemsetAsync(d_counts_.get(), 0, kBins * sizeof(unsigned)));
    }
    void run() override {
        const int n = int(x_.size());
        if (kByRows)
            histogram_rows(x_.get(), n, kAxis, Overflow::kDrop, d_rows_.get(), d_counts_.get());
        else
            histogram_atomics(x_.get(), n, kAxis, Overflow::kDrop, d_counts_.get());
    }
    // [0, 1) and powers of two as bins: each step of the rule is exact.
    void reference() override {
        want_.assign(kBins, 0u);
        for (size_t i = 0; i < x_.values().size(); ++i)
            want_[int(x_.values()[i] * kBins)] += unsigned(x_.count(i));
    }
    size_t reference_elements() const override { return x_.values().size(); }
    std::string verify() override { return wb::mismatch(d_counts_.download(), want_); }
    double bytes() const override { return 4.0 * double(x_.size()); }

private:
    static constexpr Axis kAxis{kBins, 0.0f, 1.0f};
    wb::Repeated<float> x_;
    wb::DeviceBuffer<unsigned> d_counts_, d_rows_;
    Counts want_;
};
struct Rows64 final : Spectrum<64, true> {
    using Spectrum::Spectrum;
};
struct Atomics64 final : Spectrum<64, false> {
    using Spectrum::Spectrum;
};
struct Atomics256 final : Spectrum<256, false> {
    using Spectrum::Spectrum;
};
struct Atomics4096 final : Spectrum<4096, false> {
    using Spectrum::Spectrum;
};
WORKLOAD(Rows64, "64 bins of floats, by rows", 1 << 24, 50021);
WORKLOAD(Atomics64, "64 bins of floats", 1 << 28, 100003);
WORKLOAD(Atomics256, "256 bins of floats", 1 << 28, 100003);
WORKLOAD(Atomics4096, "4096 bins of floats", 1 << 28, 100003);

}  // namespace
