// SPDX-License-Identifier: MIT
// What is timed of lesson 15: a stencil with a small and one with a large radius.
#include "lesson_test.h"
#include "stencil_constant_memory.h"
#include "workload.h"

namespace {

// Whole numbers of -8 to 8 as data and weights: all sums are exact in float.
std::vector<float> whole_numbers(size_t n, uint64_t seed) {
    const auto random = wb::random_ints(n, seed, -8, 8);
    return {random.begin(), random.end()};
}

template <int kRadius>
class Stencil : public wb::Workload {
public:
    explicit Stencil(size_t n)
        : in_(whole_numbers(n, 1)), weights_(whole_numbers(2 * kRadius + 1, 2)), d_in_(in_),
          d_out_(n) {
        set_weights(weights_.data(), kRadius);
    }
    void prepare() override { set_weights(weights_.data(), kRadius); }
    void run() override {
        stencil(d_in_.get(), d_out_.get(), int(in_.size()), kRadius, Border::kZero, 256);
    }
    std::string verify() override {
        const ptrdiff_t n = in_.size();
        std::vector<float> want(in_.size());
        for (ptrdiff_t i = 0; i < n; ++i) {
            float sum = 0;
            for (ptrdiff_t k = -kRadius; k <= kRadius; ++k)
                if (i + k >= 0 && i + k < n) sum += weights_[kRadius + k] * in_[i + k];
            want[i] = sum;
        }
        return wb::mismatch(d_out_.download(), want);
    }
    double bytes() const override { return 8.0 * double(in_.size()); }
    double operations() const override { return 2.0 * (2 * kRadius + 1) * double(in_.size()); }

private:
    std::vector<float> in_, weights_;
    wb::DeviceBuffer<float> d_in_, d_out_;
};

class SmallRadius final : public Stencil<8> {
    using Stencil::Stencil;
};
class LargeRadius final : public Stencil<kMaxRadius> {
    using Stencil::Stencil;
};
WORKLOAD(SmallRadius, "weighs 17 neighbours", 1 << 27, 100003);
WORKLOAD(LargeRadius, "weighs 129 neighbours", 1 << 25, 30011);

}  // namespace
