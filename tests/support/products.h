// SPDX-License-Identifier: MIT
// The matrix products that a lesson's workload and a library's both time: C = A B, all square, in
// rows without gaps.
#pragma once

#include <cmath>

#include "workload_data.h"

namespace wb {

// A subclass multiplies in run(). The rows of A come again after 31: so many rows of C are computed
// on the host, and all of C is compared with them. 31 is no multiple of any tile's side.
class SquareProduct : public Workload {
public:
    // n: elements of one matrix, a square number on a card.
    explicit SquareProduct(size_t n)
        : side_(int(std::lround(std::floor(std::sqrt(double(n)))))),
          a_(elements(), random_floats(size_t(kRows) * side_, 1)),
          b_(repeated_floats(elements(), 2)), d_c_(elements()) {}
    void reference() override {
        const int rows = std::min(kRows, side_);
        want_.resize(size_t(rows) * side_);
        std::vector<float> bounds(rows, 0.0f);
        in_parallel_rows(rows, [&](int row) {
            std::vector<double> sums(side_, 0.0), sizes(side_, 0.0);
            const std::vector<float>& b = b_.values();
            size_t at = 0;  // in b, which begins again where it ends
            for (int p = 0; p < side_; ++p) {
                const double left = a_.values()[size_t(row) * side_ + p];
                for (int col = 0; col < side_;) {
                    const int piece = int(std::min<size_t>(side_ - col, b.size() - at));
                    for (int i = 0; i < piece; ++i) {
                        const double one = left * b[at + i];
                        sums[col + i] += one;
                        sizes[col + i] += std::fabs(one);
                    }
                    col += piece;
                    at = (at + piece) % b.size();
                }
            }
            std::copy(sums.begin(), sums.end(), want_.begin() + size_t(row) * side_);
            bounds[row] = float(*std::max_element(sizes.begin(), sizes.end()));
        });
        bound_ = *std::max_element(bounds.begin(), bounds.end());
    }
    size_t reference_elements() const override { return want_.size(); }
    // Each sum of n products, rounded n times, is off by n 2^-24 times their magnitudes at most.
    std::string verify() override {
        const double tolerance = side_ * 0x1p-24 * bound_;
        return device_mismatch<float>(
            d_c_.get(),
            elements(),
            [&](size_t i) { return want_[i / side_ % kRows * side_ + i % side_]; },
            [&](float) { return tolerance; });
    }
    double bytes() const override { return 12.0 * double(elements()); }
    double operations() const override { return 2.0 * double(elements()) * side_; }
    const char* unit() const override { return "operations"; }

protected:
    static constexpr int kRows = 31;
    size_t elements() const { return size_t(side_) * side_; }
    // work(row) for all rows, each thread of the host some.
    static void in_parallel_rows(int rows, const std::function<void(int)>& work) {
        const int threads = std::min<int>(rows, int(host_threads()));
        std::vector<std::thread> all;
        for (int k = 1; k < threads; ++k)
            all.emplace_back([=] {
                for (int row = k; row < rows; row += threads) work(row);
            });
        for (int row = 0; row < rows; row += threads) work(row);
        for (std::thread& thread : all) thread.join();
    }
    int side_;
    Repeated<float> a_, b_;
    DeviceBuffer<float> d_c_;
    std::vector<float> want_;
    double bound_ = 0;
};

}  // namespace wb
