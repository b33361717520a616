// SPDX-License-Identifier: MIT
// The matrix products that a lesson's workload and a library's both time: C = A B, all square, in
// rows without gaps.
#pragma once

#include <cmath>
#include <type_traits>

#include <cuda_fp16.h>

#include "workload_data.h"

namespace wb {

// Of inputs of type T, float or half, and float sums. A subclass multiplies in run(). The rows of A
// come again after 31: so many rows of C are computed on the host, and all of C is compared with
// them. 31 is no multiple of any tile's side.
template <class T>
class SquareProductOf : public Workload {
public:
    // n: elements of one matrix, a square number on a card.
    explicit SquareProductOf(size_t n)
        : side_(int(std::lround(std::floor(std::sqrt(double(n)))))),
          a_(elements(), random_values(size_t(kRows) * side_, 1)),
          b_(elements(), random_values(std::min(elements(), kPeriod), 2)), d_c_(elements()) {}
    void reference() override {
        const int rows = std::min(kRows, side_);
        want_.resize(size_t(rows) * side_);
        std::vector<float> bounds(rows, 0.0f);
        in_parallel_rows(rows, [&](int row) {
            std::vector<double> sums(side_, 0.0), sizes(side_, 0.0);
            const std::vector<T>& b = b_.values();
            size_t at = 0;  // in b, which begins again where it ends
            for (int p = 0; p < side_; ++p) {
                const double left = float(a_.values()[size_t(row) * side_ + p]);
                for (int col = 0; col < side_;) {
                    const int piece = int(std::min<size_t>(side_ - col, b.size() - at));
                    for (int i = 0; i < piece; ++i) {
                        const double one = left * float(b[at + i]);
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
    // Each sum of n products, rounded n times, is off by n 2^-24 times their magnitudes at most. A
    // matrix unit, which multiplies halves, may cut off what others round.
    std::string verify() override {
        const double rounding = std::is_same_v<T, half> ? (side_ + 1) * 0x1p-23 : side_ * 0x1p-24;
        const double tolerance = rounding * bound_;
        return device_mismatch<float>(
            d_c_.get(),
            elements(),
            [&](size_t i) { return want_[i / side_ % kRows * side_ + i % side_]; },
            [&](float) { return tolerance; });
    }
    double bytes() const override { return double(2 * sizeof(T) + 4) * double(elements()); }
    double operations() const override { return 2.0 * double(elements()) * side_; }
    const char* unit() const override { return "operations"; }

protected:
    static constexpr int kRows = 31;
    static std::vector<T> random_values(size_t n, uint64_t seed) {
        const std::vector<float> values = random_floats(n, seed);
        return {values.begin(), values.end()};
    }
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
    Repeated<T> a_, b_;
    DeviceBuffer<float> d_c_;
    std::vector<float> want_;
    double bound_ = 0;
};
class SquareProduct : public SquareProductOf<float> {
public:
    using SquareProductOf::SquareProductOf;
};

}  // namespace wb
