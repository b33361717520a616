// SPDX-License-Identifier: MIT
// What is timed of lesson 04: three matrices with rows that begin at multiples of 512 bytes.
#include "indexing_2d.h"
#include "workloads/workload_data.h"

#include <cmath>

namespace {

// A matrix of about n elements.
class Hypot final : public wb::Workload {
public:
    explicit Hypot(size_t n)
        : width_(int(std::sqrt(double(n)))), pitch_((width_ + 127) / 128 * 128),
          a_(wb::repeated_floats(pitch_ * width_, 1)), b_(wb::repeated_floats(pitch_ * width_, 2)),
          d_out_(pitch_ * width_) {}
    void run() override {
        hypot_2d(a_.get(), pitch_, b_.get(), pitch_, d_out_.get(), pitch_, width_, width_);
    }
    void reference() override {
        const auto &a = a_.values(), &b = b_.values();
        want_.resize(a.size());
        wb::in_parallel(want_.size(), [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) want_[i] = std::sqrt(a[i] * a[i] + b[i] * b[i]);
        });
    }
    size_t reference_elements() const override { return a_.values().size(); }
    std::string verify() override {  // what lies behind a row is still poisoned
        const std::vector<float> out = d_out_.download();
        const size_t period = want_.size();
        std::vector<float> got, want;
        for (int row = 0; row < width_; ++row) {
            const size_t first = row * pitch_;
            got.assign(out.begin() + first, out.begin() + first + width_);
            want.resize(width_);
            for (int i = 0; i < width_; ++i) want[i] = want_[(first + i) % period];
            const std::string text =
                wb::mismatch(got, want, [&](size_t i) { return 1e-6 * want[i]; });
            if (!text.empty()) return "row " + std::to_string(row) + ": " + text;
        }
        return "";
    }
    double bytes() const override { return 12.0 * width_ * double(width_); }
    double operations() const override { return 4.0 * width_ * double(width_); }

private:
    int width_;
    size_t pitch_;
    wb::Repeated<float> a_, b_;
    wb::DeviceBuffer<float> d_out_;
    std::vector<float> want_;
};
WORKLOAD(Hypot, "hypotenuses of two matrices", 1 << 26, 100003);

}  // namespace
