// SPDX-License-Identifier: MIT
// What is timed of lesson 18: the sum by a tree in each block, and the sum by halving.
#include "tree_reduction.h"
#include "workloads/workload_data.h"

namespace {

// The sum of whole numbers of -4 to 4 is exact: a partial sum in any order that does not look at
// the values is a random walk, with a standard deviation of 42,000 after 2^28 terms, while float
// is exact up to 2^24, 400 times as far. The same numbers come 67 times, which makes it 8 times as
// far at most.
class Sum : public wb::Workload {
public:
    Sum(size_t n, uint64_t seed) : in_(wb::repeated_whole_numbers(n, seed, -4, 4)), d_sum_(1) {}
    void reference() override {
        want_ = 0;
        for (size_t i = 0; i < in_.values().size(); ++i)
            want_ += double(in_.values()[i]) * double(in_.count(i));
    }
    size_t reference_elements() const override { return in_.values().size(); }
    std::string verify() override {
        const float sum = d_sum_.download()[0];
        if (sum == want_) return "";
        return "the sum is " + wb::shown(sum) + ", want " + wb::shown(want_);
    }

protected:
    wb::Repeated<float> in_;
    wb::DeviceBuffer<float> d_sum_;
    double want_ = 0;
};

class TreeSum final : public Sum {
public:
    explicit TreeSum(size_t n) : Sum(n, 5), d_scratch_(2 * (n / kThreads + 1)) {}
    void run() override { tree_sum(in_.get(), int(in_.size()), d_scratch_.get(), d_sum_.get()); }
    double bytes() const override { return 4.0 * double(in_.size()); }

private:
    wb::DeviceBuffer<float> d_scratch_;
};
WORKLOAD(TreeSum, "sums by a tree in each block", 1 << 28, 100003);

class HalvingSum final : public Sum {
public:
    explicit HalvingSum(size_t n) : Sum(n, 6), d_data_(n) {}
    void prepare() override {  // the halving destroys its input
        CUDA_CHECK(cudaMemcpyAsync(
            d_data_.get(), in_.get(), in_.size() * sizeof(float), cudaMemcpyDeviceToDevice));
    }
    void run() override { sum_by_halving(d_data_.get(), int(in_.size()), d_sum_.get()); }
    double bytes() const override { return 12.0 * double(in_.size()); }

private:
    wb::DeviceBuffer<float> d_data_;
};
WORKLOAD(HalvingSum, "sums by halving, level by level", 1 << 27, 100003);

}  // namespace
