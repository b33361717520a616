// SPDX-License-Identifier: MIT
// What is timed of lesson 14: differences of neighbours and the reversal, both through a tile.
#include "shared_memory_barriers.h"
#include "workloads/workload_data.h"

namespace {

class Differences final : public wb::Workload {
public:
    explicit Differences(size_t n) : in_(wb::repeated_floats(n, 1)), d_out_(n) {}
    void run() override { differences(in_.get(), d_out_.get(), int(in_.size()), 256); }
    void reference() override {
        const auto& in = in_.values();
        want_.resize(in.size());
        for (size_t i = 0; i + 1 < in.size(); ++i) want_[i] = in[i + 1] - in[i];
        want_.back() = in[0] - in.back();  // where the next period begins
    }
    size_t reference_elements() const override { return in_.values().size(); }
    std::string verify() override {
        const size_t n = in_.size();
        return wb::device_mismatch<float>(d_out_.get(), n, [&](size_t i) {
            return i + 1 < n ? want_[i % want_.size()] : -in_.values()[i % want_.size()];
        });
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    wb::Repeated<float> in_;
    wb::DeviceBuffer<float> d_out_;
    std::vector<float> want_;
};
WORKLOAD(Differences, "differences of neighbours", 1 << 27, 100003);

class ReverseArray final : public wb::Elementwise<float> {
public:
    explicit ReverseArray(size_t n) : Elementwise(n), in_(wb::repeated_floats(n, 2)) {}
    void run() override { reverse_array(in_.get(), d_out_.get(), int(n_), 256); }
    void fill(size_t begin, size_t end) override {
        const auto& values = in_.values();
        for (size_t i = begin; i < end; ++i) want_[i] = values[(n_ - 1 - i) % values.size()];
    }
    double bytes() const override { return 8.0 * double(n_); }

private:
    wb::Repeated<float> in_;
};
WORKLOAD(ReverseArray, "reverses through a tile", 1 << 27, 100003);

}  // namespace
