// SPDX-License-Identifier: MIT
// What is timed of lesson 19: a sum over the whole grid, and the sums of rows.
#include "block_and_warp_reduction.h"
#include "lesson_test.h"
#include "workload.h"

#include <numeric>

namespace {

// Whole numbers of 1 to 8: their sums are exact in double, in any order.
std::vector<float> whole_numbers(size_t n, uint64_t seed) {
    const auto random = wb::random_ints(n, seed, 1, 8);
    return {random.begin(), random.end()};
}

class GridSum final : public wb::Workload {
public:
    explicit GridSum(size_t n)
        : x_(whole_numbers(n, 1)), d_x_(x_), d_scratch_(kScratchBytes / sizeof(double)), d_sum_(1) {
    }
    void run() override { sum(d_x_.get(), int(x_.size()), d_scratch_.get(), d_sum_.get()); }
    std::string verify() override {
        const double got = d_sum_.download()[0], want = std::accumulate(x_.begin(), x_.end(), 0.0);
        if (got == want) return "";
        return "the sum is " + wb::shown(got) + ", want " + wb::shown(want);
    }
    double bytes() const override { return 4.0 * double(x_.size()); }

private:
    std::vector<float> x_;
    wb::DeviceBuffer<float> d_x_;
    wb::DeviceBuffer<double> d_scratch_, d_sum_;
};
WORKLOAD(GridSum, "sums all elements", 1 << 28, 100003);

class RowSums final : public wb::Workload {
public:
    static constexpr int kCols = 1000;
    explicit RowSums(size_t n)
        : rows_(int(n / kCols)), x_(whole_numbers(size_t(rows_) * kCols, 2)), d_x_(x_),
          d_sums_(rows_) {}
    void run() override { row_sums(d_x_.get(), d_sums_.get(), rows_, kCols); }
    std::string verify() override {
        std::vector<float> want(rows_, 0.0f);
        for (size_t i = 0; i < x_.size(); ++i) want[i / kCols] += x_[i];
        return wb::mismatch(d_sums_.download(), want);
    }
    double bytes() const override { return 4.0 * double(x_.size() + rows_); }

private:
    int rows_;
    std::vector<float> x_;
    wb::DeviceBuffer<float> d_x_, d_sums_;
};
WORKLOAD(RowSums, "sums rows of 1000", 1 << 28, 100003);

}  // namespace
