// SPDX-License-Identifier: MIT
// The timed work of lesson 40: the analysis of events in device memory, from their muons to the
// peaks. A million events are repeated in memory: no two events share a muon.
#include "capstone_dimuon.h"
#include "reference.h"
#include "workloads/workload_data.h"

#include <memory>

namespace {

constexpr size_t kOnePeriod = 1'000'003;  // events

class FindPeaks final : public wb::Workload {
public:
    explicit FindPeaks(size_t n)
        : n_(n), known_(dimuon::make_events(int(std::min(n, kOnePeriod)), 40)) {
        const dimuon::Sample& s = known_.sample;
        const size_t period = s.counts.size(), rest = n % period;
        size_t muons = n / period * s.pt.size();
        for (size_t e = 0; e < rest; ++e) muons += size_t(s.counts[e]);
        const wb::Repeated<int> counts(n, s.counts), charge(muons, s.charge);
        const wb::Repeated<float> pt(muons, s.pt), eta(muons, s.eta), phi(muons, s.phi);
        muons_ = muons;
        analysis_ = std::make_unique<Analysis>(int(n), int(muons));
        analysis_->upload(
            {int(n), int(muons), counts.get(), pt.get(), eta.get(), phi.get(), charge.get()},
            nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    void run() override { analysis_->replay(nullptr); }
    void reference() override {
        // The counts of all whole periods, plus those of the remaining events.
        const size_t period = known_.mass.size();
        want_.assign(kBins, 0);
        for (size_t e = 0; e < period; ++e) {
            if (!known_.valid[e]) continue;
            const unsigned times = unsigned(n_ / period + (e < n_ % period ? 1 : 0));
            const float mass = known_.mass[e];
            if (mass >= 0 && mass < kLimit) want_[size_t(mass * 10.0f)] += times;
        }
        // Does the same work on one CPU core.
        const dimuon::Sample& s = known_.sample;
        size_t first = 0;
        for (const int count : s.counts) {
            checked_ += dimuon::heaviest(s, int(first), int(first) + count).valid;
            first += size_t(count);
        }
    }
    size_t reference_elements() const override { return known_.mass.size(); }
    std::string verify() override {
        std::vector<Peak> got(kPeaks);
        analysis_->peaks(got.data());
        const std::vector<Peak> want = dimuon::peaks_of(want_);
        for (int w = 0; w < kPeaks; ++w)
            if (got[w].bin != want[w].bin || got[w].events != want[w].events)
                return std::string(kWindows[w].name) + ": got " + std::to_string(got[w].events) +
                       " events in bin " + std::to_string(got[w].bin) + ", want " +
                       std::to_string(want[w].events) + " in bin " + std::to_string(want[w].bin);
        return "";
    }
    // Each input once, and the spectrum. Data between the stages need not move.
    double bytes() const override { return 4.0 * (double(n_) + 4.0 * double(muons_) + kBins); }
    const char* unit() const override { return "events"; }

private:
    size_t n_, muons_ = 0, checked_ = 0;
    dimuon::Known known_;
    std::vector<unsigned> want_;
    std::unique_ptr<Analysis> analysis_;
};
WORKLOAD(FindPeaks, "finds the peaks of dimuon events", 100'000'000, 30011);

}  // namespace
