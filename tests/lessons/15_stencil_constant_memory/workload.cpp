// SPDX-License-Identifier: MIT
// What is timed of lesson 15: a stencil with a small and one with a large radius.
#include "stencil_constant_memory.h"
#include "workloads/workload_data.h"

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
        : in_(wb::repeated_whole_numbers(n, 1, -8, 8)), weights_(whole_numbers(2 * kRadius + 1, 2)),
          d_out_(n) {
        set_weights(weights_.data(), kRadius);
    }
    void prepare() override { set_weights(weights_.data(), kRadius); }
    void run() override {
        stencil(in_.get(), d_out_.get(), int(in_.size()), kRadius, Border::kZero, 256);
    }
    // One period as if it had neighbours on both sides, as most have.
    void reference() override {
        const ptrdiff_t period = in_.values().size();
        want_.resize(period);
        wb::in_parallel(period, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) want_[i] = at(i, -kRadius, kRadius);
        });
    }
    size_t reference_elements() const override { return in_.values().size(); }
    std::string verify() override {
        const ptrdiff_t n = in_.size(), period = in_.values().size();
        return wb::device_mismatch<float>(d_out_.get(), n, [&](size_t place) {
            const ptrdiff_t i = place;
            if (i >= kRadius && i + kRadius < n) return want_[i % period];
            return at(
                i, std::max<ptrdiff_t>(-kRadius, -i), std::min<ptrdiff_t>(kRadius, n - 1 - i));
        });
    }
    double bytes() const override { return 8.0 * double(in_.size()); }
    double operations() const override { return 2.0 * (2 * kRadius + 1) * double(in_.size()); }

private:
    // The weighted neighbours `first` to `last` of element i.
    float at(ptrdiff_t i, ptrdiff_t first, ptrdiff_t last) const {
        const ptrdiff_t period = in_.values().size();
        float sum = 0;
        if (i + first >= 0 && i + last < period) {
            const float* middle = in_.values().data() + i;
            for (ptrdiff_t k = first; k <= last; ++k) sum += weights_[kRadius + k] * middle[k];
            return sum;
        }
        for (ptrdiff_t k = first; k <= last; ++k)
            sum += weights_[kRadius + k] * in_.values()[(i + k + kRadius * period) % period];
        return sum;
    }
    wb::Repeated<float> in_;
    std::vector<float> weights_, want_;
    wb::DeviceBuffer<float> d_out_;
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
