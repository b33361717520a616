// SPDX-License-Identifier: MIT
// What is timed of lesson 10: the invariant masses of pairs.
#include "device_functions_z_mass.h"
#include "workloads/workload_data.h"

#include <cmath>

namespace {

class Masses final : public wb::Elementwise<float> {
public:
    explicit Masses(size_t n)
        : Elementwise(n), pt1_(wb::repeated_floats(n, 1, 5, 60)),
          eta1_(wb::repeated_floats(n, 2, -2.4f, 2.4f)),
          phi1_(wb::repeated_floats(n, 3, -3.14f, 3.14f)), pt2_(wb::repeated_floats(n, 4, 5, 60)),
          eta2_(wb::repeated_floats(n, 5, -2.4f, 2.4f)),
          phi2_(wb::repeated_floats(n, 6, -3.14f, 3.14f)) {
        tolerance_ = wb::relative_error<float>(2e-6);
    }
    void run() override {
        masses({pt1_.get(), eta1_.get(), phi1_.get()},
               {pt2_.get(), eta2_.get(), phi2_.get()},
               d_out_.get(),
               int(n_));
    }
    void fill(size_t begin, size_t end) override {
        for (size_t i = begin; i < end; ++i) {
            // The difference of the angles is rounded to float, as on the device.
            const double a = std::sinh(0.5 * double(eta1_.values()[i] - eta2_.values()[i]));
            const double b = std::sin(0.5 * double(phi1_.values()[i] - phi2_.values()[i]));
            const double pt = double(pt1_.values()[i]) * pt2_.values()[i];
            want_[i] = float(2 * std::sqrt(pt * (a * a + b * b)));
        }
    }
    double bytes() const override { return 28.0 * double(n_); }

private:
    wb::Repeated<float> pt1_, eta1_, phi1_, pt2_, eta2_, phi2_;
};
WORKLOAD(Masses, "invariant masses of pairs", 1 << 26, 100003);

}  // namespace
