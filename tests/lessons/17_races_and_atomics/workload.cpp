// SPDX-License-Identifier: MIT
// What is timed of lesson 17: counting with an atomic for each element, and for each warp.
#include "races_and_atomics.h"
#include "workloads/workload_data.h"

namespace {

using Count = unsigned long long;
using CountAbove = void (*)(const float*, int, float, Count*);

template <CountAbove kCountIt>
class Counting : public wb::Workload {
public:
    explicit Counting(size_t n) : x_(wb::repeated_floats(n, 1)), d_count_(std::vector<Count>{0}) {}
    void prepare() override { CUDA_CHECK(cudaMemsetAsync(d_count_.get(), 0, sizeof(Count))); }
    void run() override { kCountIt(x_.get(), int(x_.size()), kLimit, d_count_.get()); }
    void reference() override {
        want_ = 0;
        for (size_t i = 0; i < x_.values().size(); ++i)
            want_ += x_.values()[i] > kLimit ? x_.count(i) : 0;
    }
    size_t reference_elements() const override { return x_.values().size(); }
    std::string verify() override {
        const Count got = d_count_.download()[0];
        if (got == want_) return "";
        return "counted " + std::to_string(got) + ", want " + std::to_string(want_);
    }
    double bytes() const override { return 4.0 * double(x_.size()); }

private:
    static constexpr float kLimit = 0.5f;  // a quarter is above
    wb::Repeated<float> x_;
    wb::DeviceBuffer<Count> d_count_;
    Count want_ = 0;
};

class ByWarps final : public Counting<count_above_by_warps> {
    using Counting::Counting;
};
class ByElements final : public Counting<count_above> {
    using Counting::Counting;
};
WORKLOAD(ByWarps, "counts with an atomic for each warp", 1 << 28, 100003);
WORKLOAD(ByElements, "counts with an atomic for each element", 1 << 26, 100003);

}  // namespace
