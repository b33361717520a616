// SPDX-License-Identifier: MIT
// What is timed of lesson 06: its own measurement of a kernel that adds 1 to doubles.
#include "timing_and_bandwidth.h"
#include "workloads/workload_data.h"

namespace {

class Increment final : public wb::Workload {
public:
    explicit Increment(size_t n)
        : start_(wb::random_ints(std::min(n, wb::kPeriod), 1, -1000, 1000)),
          data_(n, std::vector<double>(start_.begin(), start_.end())) {}
    void run() override {
        measured_ = measure_increment(data_.get(), data_.size(), 0, 1, nullptr);
        ++runs_;
    }
    void reference() override {
        want_.resize(start_.size());
        for (size_t i = 0; i < want_.size(); ++i) want_[i] = start_[i] + runs_;
    }
    size_t reference_elements() const override { return start_.size(); }
    std::string verify() override {
        if (!(measured_.ms > 0) || !(measured_.gigabytes_per_second > 0))
            return "measured " + wb::shown(measured_.ms) + " ms";
        return wb::device_mismatch<double>(
            data_.get(), data_.size(), [&](size_t i) { return want_[i % want_.size()]; });
    }
    double bytes() const override { return 16.0 * double(data_.size()); }

private:
    std::vector<int> start_;
    wb::Repeated<double> data_;
    Measurement measured_{};
    int runs_ = 0;
    std::vector<double> want_;
};
WORKLOAD(Increment, "adds 1 to doubles", 1 << 27, 100003);

}  // namespace
