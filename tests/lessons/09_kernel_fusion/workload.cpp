// SPDX-License-Identifier: MIT
// What is timed of lesson 09: the roots of quadratic equations, as in a textbook and accurate.
#include "kernel_fusion.h"
#include "workloads/workload_data.h"

#include <cmath>

namespace {

using Solve = void (*)(const double*, const double*, const double*, double*, int);

// a in [1, 2), b in [5, 9) or (-9, -5], c in [1, 2): never a negative square root.
template <Solve kSolve>
class Roots : public wb::Elementwise<double> {
public:
    explicit Roots(size_t n)
        : Elementwise(n), a_(numbers(n, 1, 1, 2)), b_(numbers(n, 2, 5, 9)),
          c_(numbers(n, 3, 1, 2)) {
        tolerance_ = wb::relative_error<double>(1e-13);
    }
    void run() override { kSolve(a_.get(), b_.get(), c_.get(), d_out_.get(), int(n_)); }
    void fill(size_t begin, size_t end) override {
        const auto &a = a_.values(), &b = b_.values(), &c = c_.values();
        for (size_t i = begin; i < end; ++i) {
            const double root = std::sqrt(b[i] * b[i] - 4 * a[i] * c[i]);
            want_[i] = b[i] > 0 ? 2 * c[i] / (-b[i] - root) : (-b[i] + root) / (2 * a[i]);
        }
    }
    double bytes() const override { return 32.0 * double(n_); }
    double operations() const override { return 9.0 * double(n_); }

private:
    static wb::Repeated<double> numbers(size_t n, uint64_t seed, double low, double high) {
        return {n, wb::made_of<double>(std::min(n, wb::kPeriod), [=](size_t i) {
                    return low + (high - low) * wb::uniform_float(seed, i);
                })};
    }
    wb::Repeated<double> a_, b_, c_;
};
struct Fused final : Roots<roots_fused<double>> {
    using Roots::Roots;
};
struct Stable final : Roots<roots_stable<double>> {
    using Roots::Roots;
};
WORKLOAD(Fused, "roots of quadratic equations", 1 << 27, 100003);
WORKLOAD(Stable, "the same roots, accurate", 1 << 27, 100003);

}  // namespace
