// SPDX-License-Identifier: MIT
// What is timed of lesson 08: a cheap and a dear operation on whole matrices.
#include "elementwise_functors.h"
#include "workloads/workload_data.h"

#include <cmath>

namespace {

class Trig final : public wb::Elementwise<float> {
public:
    static constexpr int kColumns = 1024;
    explicit Trig(size_t n)
        : Elementwise(n / kColumns * kColumns), x_(wb::repeated_floats(n_, 1, -3, 3)),
          y_(wb::repeated_floats(n_, 2, -3, 3)) {
        tolerance_ = wb::relative_error<float>(2e-6);
    }
    void run() override {
        const int rows = int(n_ / kColumns);
        saxpy_trig<float>(1.5f,
                          {x_.get(), rows, kColumns},
                          {y_.get(), rows, kColumns},
                          d_out_.get(),
                          {rows, kColumns});
    }
    void fill(size_t begin, size_t end) override {
        const auto &x = x_.values(), &y = y_.values();
        for (size_t i = begin; i < end; ++i)
            want_[i] = std::exp(1.5f * std::sin(x[i]) + std::cos(y[i]));
    }
    double bytes() const override { return 12.0 * double(n_); }

private:
    wb::Repeated<float> x_, y_;
};
WORKLOAD(Trig, "exp(1.5 sin x + cos y)", 1 << 26, 102400);

class Sigmoid final : public wb::Elementwise<float> {
public:
    static constexpr int kColumns = 1024;
    explicit Sigmoid(size_t n)
        : Elementwise(n / kColumns * kColumns), x_(wb::repeated_floats(n_, 1, -8, 8)) {
        tolerance_ = wb::relative_error<float>(2e-6);
    }
    void run() override {
        const int rows = int(n_ / kColumns);
        sigmoid<float>({x_.get(), rows, kColumns}, d_out_.get(), {rows, kColumns});
    }
    void fill(size_t begin, size_t end) override {
        for (size_t i = begin; i < end; ++i)
            want_[i] = float(1 / (1 + std::exp(-double(x_.values()[i]))));
    }
    double bytes() const override { return 8.0 * double(n_); }

private:
    wb::Repeated<float> x_;
};
WORKLOAD(Sigmoid, "sigmoid", 1 << 26, 102400);

}  // namespace
