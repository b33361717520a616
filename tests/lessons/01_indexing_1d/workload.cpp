// SPDX-License-Identifier: MIT
// What is timed of lesson 01: reversing an array, which moves each element once.
#include "indexing_1d.h"
#include "workloads/workload_data.h"

namespace {

// The number of elements is cut to whole blocks.
class Reverse final : public wb::Elementwise<int> {
public:
    static constexpr size_t kThreads = 256;
    explicit Reverse(size_t n)
        : Elementwise(n / kThreads * kThreads), in_(wb::repeated_ints(n_, 1, -1000, 1000)) {}
    void run() override { reverse(in_.get(), d_out_.get(), int(n_ / kThreads), int(kThreads)); }
    // From the end, the data repeat as well, but begin in the middle of a period.
    void fill(size_t begin, size_t end) override {
        const auto& values = in_.values();
        for (size_t i = begin; i < end; ++i) want_[i] = values[(n_ - 1 - i) % values.size()];
    }
    double bytes() const override { return 8.0 * double(n_); }

private:
    wb::Repeated<int> in_;
};
WORKLOAD(Reverse, "reverses an array", 1 << 27, 100096);

}  // namespace
