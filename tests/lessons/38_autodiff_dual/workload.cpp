// SPDX-License-Identifier: MIT
// The timed work of lesson 38: gradients of a short and of a long function, second derivatives, and
// a descent of 64 steps from each point.
#include "autodiff_dual.h"
#include "workloads/workload_data.h"

#include <array>
#include <cmath>

namespace {

using Three = std::array<double, 3>;  // the results for one point

// Three arrays with one number for each point. Wanted<F>: the three numbers for one point in
// double, and the bounds of their errors, from the largest terms within |x|, |y| <= 2.
template <class Wanted>
class Points : public wb::Workload {
public:
    explicit Points(size_t n)
        : n_(n), x_(wb::repeated_floats(n, 1, -2, 2)),
          y_(wb::repeated_floats(n, 2, -2, 2)), d_out_{wb::DeviceBuffer<float>(n),
                                                       wb::DeviceBuffer<float>(n),
                                                       wb::DeviceBuffer<float>(n)} {}
    size_t reference_elements() const override { return std::min(n_, wb::kPeriod); }
    void reference() override {
        for (auto& want : want_) want.resize(reference_elements());
        wb::in_parallel(reference_elements(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                const Three at = Wanted::at(x_.values()[i], y_.values()[i]);
                for (int k : {0, 1, 2}) want_[k][i] = float(at[k]);
            }
        });
    }
    std::string verify() override {
        for (int k : {0, 1, 2}) {
            const auto bound = [k](float) { return 0x1p-24 * Wanted::kBound[k]; };
            const std::string text = wb::repeated_mismatch<float>(d_out_[k], want_[k], bound);
            if (!text.empty()) return text;
        }
        return "";
    }
    double bytes() const override { return 20.0 * double(n_); }

protected:
    size_t n_;
    wb::Repeated<float> x_, y_;
    std::array<wb::DeviceBuffer<float>, 3> d_out_;
    std::array<std::vector<float>, 3> want_;
};

struct ValleyGradient {
    static constexpr Three kBound{16 * 3609, 16 * 4806, 16 * 1200};
    static Three at(double x, double y) {
        const double a = 1 - x, b = y - x * x;
        return {a * a + 100 * b * b, -2 * a - 400 * x * b, 200 * b};
    }
};

struct ValleySecond {
    static constexpr Three kBound{16 * 5602, 16 * 800, 16 * 200};
    static Three at(double x, double y) { return {2 - 400 * y + 1200 * x * x, -400 * x, 200}; }
};

struct WavesGradient {
    static constexpr Three kBound{64 * 6, 64 * 9.2, 64 * 7};
    static Three at(double x, double y) {
        const double e = std::exp(-y * y / 4), t = std::tanh(x * y), s = 1 - t * t;
        const double r = std::sqrt(1 + x * x), cube = x * x * x / 2;
        return {std::sin(x) * e + t / r + std::cos(y) * cube,
                std::cos(x) * e + y * s / r - t * x / (r * r * r) + 1.5 * std::cos(y) * x * x,
                -y / 2 * std::sin(x) * e + x * s / r - std::sin(y) * cube};
    }
};

template <class F, class Wanted>
struct Gradients : Points<Wanted> {
    using Points<Wanted>::Points;
    void run() override {
        auto& [f, dx, dy] = this->d_out_;
        gradients(F{}, this->x_.get(), this->y_.get(), f.get(), dx.get(), dy.get(), int(this->n_));
    }
};
struct Valley final : Gradients<Rosenbrock, ValleyGradient> {
    using Gradients::Gradients;
};
WORKLOAD(Valley, "gradients of Rosenbrock's function", 1 << 26, 100003);
struct Long final : Gradients<Waves, WavesGradient> {
    using Gradients::Gradients;
};
WORKLOAD(Long, "gradients of a long function", 1 << 26, 100003);

struct Second final : Points<ValleySecond> {
    using Points::Points;
    void run() override {
        auto& [xx, xy, yy] = d_out_;
        second_derivatives(Rosenbrock{}, x_.get(), y_.get(), xx.get(), xy.get(), yy.get(), int(n_));
    }
};
WORKLOAD(Second, "second derivatives of Rosenbrock's function", 1 << 26, 100003);

// A descent to the lowest point of x^2 + 3xy + 5y^2. An error shrinks by at least 1/16 with each
// step, and each step adds at most 2 u (|x| + |y|) + 16 u rate (5 |x| + 13 |y|), that is 44 u.
class Descent final : public wb::Workload {
public:
    explicit Descent(size_t n)
        : n_(n), x_(wb::repeated_floats(n, 1, -2, 2)), y_(wb::repeated_floats(n, 2, -2, 2)),
          d_x_(n), d_y_(n) {}
    void prepare() override {
        CUDA_CHECK(cudaMemcpy(d_x_.get(), x_.get(), 4 * n_, cudaMemcpyDeviceToDevice));
        CUDA_CHECK(cudaMemcpy(d_y_.get(), y_.get(), 4 * n_, cudaMemcpyDeviceToDevice));
    }
    void run() override { descend(Quadratic{}, d_x_.get(), d_y_.get(), int(n_), kSteps, kRate); }
    size_t reference_elements() const override { return std::min(n_, wb::kPeriod); }
    void reference() override {
        want_x_.resize(reference_elements());
        want_y_.resize(reference_elements());
        wb::in_parallel(want_x_.size(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                double x = x_.values()[i], y = y_.values()[i];
                for (int step = 0; step < kSteps; ++step) {
                    const double dx = 2 * x + 3 * y, dy = 3 * x + 10 * y;
                    x -= kRate * dx;
                    y -= kRate * dy;
                }
                want_x_[i] = float(x);
                want_y_[i] = float(y);
            }
        });
    }
    std::string verify() override {
        const auto bound = [](float) { return 16 * 44 * 0x1p-24; };
        const std::string text = wb::repeated_mismatch<float>(d_x_, want_x_, bound);
        return text.empty() ? wb::repeated_mismatch<float>(d_y_, want_y_, bound) : text;
    }
    double bytes() const override { return 16.0 * double(n_); }
    const char* unit() const override { return "points"; }

private:
    static constexpr int kSteps = 64;
    static constexpr float kRate = 0.0625f;
    size_t n_;
    wb::Repeated<float> x_, y_;
    wb::DeviceBuffer<float> d_x_, d_y_;
    std::vector<float> want_x_, want_y_;
};
WORKLOAD(Descent, "64 steps of a descent", 1 << 26, 10007);

}  // namespace
