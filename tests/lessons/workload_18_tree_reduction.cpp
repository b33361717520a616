// SPDX-License-Identifier: MIT
// What is timed of lesson 18: the sum by a tree in each block, and the sum by halving.
#include "lesson_test.h"
#include "tree_reduction.h"
#include "workload.h"

#include <numeric>

namespace {

// Whole numbers of -4 to 4, so that the exact sum is known: a partial sum in any order that does
// not look at the values is a random walk, with a standard deviation of 42,000 after 2^28 terms,
// while float is exact up to 2^24, 400 times as far.
std::vector<float> whole_numbers(size_t n, uint64_t seed) {
    const auto random = wb::random_ints(n, seed, -4, 4);
    return {random.begin(), random.end()};
}

std::string wrong_sum(float sum, const std::vector<float>& values) {
    const double want = std::accumulate(values.begin(), values.end(), 0.0);
    if (sum == want) return "";
    return "the sum is " + wb::shown(sum) + ", want " + wb::shown(want);
}

class TreeSum final : public wb::Workload {
public:
    explicit TreeSum(size_t n)
        : values_(whole_numbers(n, 5)), d_in_(values_), d_scratch_(2 * (n / kThreads + 1)),
          d_sum_(1) {}
    void run() override {
        tree_sum(d_in_.get(), int(values_.size()), d_scratch_.get(), d_sum_.get());
    }
    std::string verify() override { return wrong_sum(d_sum_.download()[0], values_); }
    double bytes() const override { return 4.0 * double(values_.size()); }

private:
    std::vector<float> values_;
    wb::DeviceBuffer<float> d_in_, d_scratch_, d_sum_;
};
WORKLOAD(TreeSum, "sums by a tree in each block", 1 << 28, 100003);

class HalvingSum final : public wb::Workload {
public:
    explicit HalvingSum(size_t n)
        : values_(whole_numbers(n, 6)), d_kept_(values_), d_data_(n), d_sum_(1) {}
    void prepare() override {  // the halving destroys its input
        CUDA_CHECK(cudaMemcpyAsync(d_data_.get(),
                                   d_kept_.get(),
                                   values_.size() * sizeof(float),
                                   cudaMemcpyDeviceToDevice));
    }
    void run() override { sum_by_halving(d_data_.get(), int(values_.size()), d_sum_.get()); }
    std::string verify() override { return wrong_sum(d_sum_.download()[0], values_); }
    double bytes() const override { return 12.0 * double(values_.size()); }

private:
    std::vector<float> values_;
    wb::DeviceBuffer<float> d_kept_, d_data_, d_sum_;
};
WORKLOAD(HalvingSum, "sums by halving, level by level", 1 << 27, 100003);

}  // namespace
