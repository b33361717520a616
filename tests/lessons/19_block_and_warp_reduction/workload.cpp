// SPDX-License-Identifier: MIT
// What is timed of lesson 19: a sum over the whole grid, and the sums of rows.
#include "block_and_warp_reduction.h"
#include "workloads/workload_data.h"

namespace {

// Whole numbers of 1 to 8: their sums are exact in double, in any order.
class GridSum final : public wb::Workload {
public:
    explicit GridSum(size_t n)
        : x_(wb::repeated_whole_numbers(n, 1, 1, 8)), d_scratch_(kScratchBytes / sizeof(double)),
          d_sum_(1) {}
    void run() override { sum(x_.get(), int(x_.size()), d_scratch_.get(), d_sum_.get()); }
    void reference() override {
        want_ = 0;
        for (size_t i = 0; i < x_.values().size(); ++i)
            want_ += double(x_.values()[i]) * double(x_.count(i));
    }
    size_t reference_elements() const override { return x_.values().size(); }
    std::string verify() override {
        const double got = d_sum_.download()[0];
        if (got == want_) return "";
        return "the sum is " + wb::shown(got) + ", want " + wb::shown(want_);
    }
    double bytes() const override { return 4.0 * double(x_.size()); }
    double operations() const override { return double(x_.size()); }

private:
    wb::Repeated<float> x_;
    wb::DeviceBuffer<double> d_scratch_, d_sum_;
    double want_ = 0;
};
WORKLOAD(GridSum, "sums all elements", 1 << 28, 100003);

class RowSums final : public wb::Workload {
public:
    static constexpr int kCols = 1000;
    explicit RowSums(size_t n)
        : rows_(int(n / kCols)), x_(wb::repeated_whole_numbers(size_t(rows_) * kCols, 2, 1, 8)),
          d_sums_(rows_) {}
    void run() override { row_sums(x_.get(), d_sums_.get(), rows_, kCols); }
    void reference() override {
        const auto& values = x_.values();
        want_.resize(rows_);
        wb::in_parallel(rows_, [&](size_t begin, size_t end) {
            for (size_t row = begin; row < end; ++row) {
                float sum = 0;
                size_t at = row * kCols % values.size();
                for (int col = 0; col < kCols; ++col) {
                    sum += values[at];
                    if (++at == values.size()) at = 0;
                }
                want_[row] = sum;
            }
        });
    }
    size_t reference_elements() const override { return x_.size(); }
    std::string verify() override { return wb::mismatch(d_sums_.download(), want_); }
    double bytes() const override { return 4.0 * double(x_.size() + rows_); }

private:
    int rows_;
    wb::Repeated<float> x_;
    wb::DeviceBuffer<float> d_sums_;
    std::vector<float> want_;
};
WORKLOAD(RowSums, "sums rows of 1000", 1 << 27, 100003);

}  // namespace
