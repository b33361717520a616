// SPDX-License-Identifier: MIT
// The timed work of lesson 35: the roots of lesson 09, by a kernel that is compiled at run time.
// The first call, which compiles, is one of the warm-up calls.
#include "jit_nvrtc.h"
#include "workloads/workload_data.h"

#include <cmath>

namespace {

class Roots : public wb::Workload {
public:
    explicit Roots(size_t n, int calls = 1)
        : calls_(calls), a_(wb::random_floats(n, 35, 5, 10)), b_(wb::random_floats(n, 36, 10, 20)),
          c_(wb::random_floats(n, 37, -0.1f, 0.1f)), d_a_(a_), d_b_(b_), d_c_(c_), d_root_(n),
          roots_(cache_, "T a, T b, T c", "T root", "(-b + sqrt(b * b - 4 * a * c)) / (2 * a)",
                 "roots") {}
    void run() override {
        for (int i = 0; i < calls_; ++i)
            roots_(d_root_.get(), {d_a_.get(), d_b_.get(), d_c_.get()}, (long long)a_.size());
    }
    void reference() override {
        want_.resize(a_.size());
        for (size_t i = 0; i < a_.size(); ++i) {
            const double s = std::sqrt(double(b_[i]) * b_[i] - 4.0 * a_[i] * c_[i]);
            want_[i] = float((-double(b_[i]) + s) / (2.0 * a_[i]));
        }
    }
    size_t reference_elements() const override { return a_.size(); }
    std::string verify() override {
        return wb::mismatch(d_root_.download(), want_, [&](size_t i) {  // as in lesson 09
            return 8 * 0x1p-24 * double(b_[i]) / a_[i];
        });
    }
    double bytes() const override { return 16.0 * double(a_.size()) * calls_; }

private:
    int calls_;
    std::vector<float> a_, b_, c_, want_;
    wb::DeviceBuffer<float> d_a_, d_b_, d_c_, d_root_;
    KernelCache cache_;
    ElementwiseKernel roots_;
};
WORKLOAD(Roots, "roots by a kernel that is compiled at run time", 1 << 26, 100003);

class SmallCalls final : public Roots {
public:
    explicit SmallCalls(size_t n) : Roots(n, 4) {}
};
WORKLOAD(SmallCalls, "4 calls for 4096 roots", 4096, 1003);

}  // namespace
