// SPDX-License-Identifier: MIT
// What is timed of lesson 02: the addition and the gather, both limited by memory.
#include "boundary_checks.h"
#include "lesson_test.h"
#include "workload.h"

namespace {

class AddVectors final : public wb::Workload {
public:
    explicit AddVectors(size_t n)
        : a_(wb::random_floats(n, 1)), b_(wb::random_floats(n, 2)), d_a_(a_), d_b_(b_), d_c_(n) {}
    void run() override { vector_add(d_a_.get(), d_b_.get(), d_c_.get(), int(a_.size())); }
    std::string verify() override {
        std::vector<float> want(a_.size());
        for (size_t i = 0; i < want.size(); ++i) want[i] = a_[i] + b_[i];
        return wb::mismatch(d_c_.download(), want);
    }
    double bytes() const override { return 12.0 * double(a_.size()); }

private:
    std::vector<float> a_, b_;
    wb::DeviceBuffer<float> d_a_, d_b_, d_c_;
};
WORKLOAD(AddVectors, "adds two vectors", 1 << 27, 100003);

class Gather final : public wb::Workload {
public:
    static constexpr int kLength = 4096;  // fits in any cache: what counts is index and output
    explicit Gather(size_t n)
        : values_(wb::random_floats(kLength, 3)), index_(wb::random_ints(n, 4, -9000, 9000)),
          d_values_(values_), d_index_(index_), d_out_(n), d_errors_(1) {}
    void run() override {
        gather(d_values_.get(),
               kLength,
               d_index_.get(),
               d_out_.get(),
               int(index_.size()),
               OutOfRange::kWrap,
               d_errors_.get());
    }
    std::string verify() override {
        std::vector<float> want(index_.size());
        for (size_t k = 0; k < want.size(); ++k)
            want[k] = values_[(index_[k] % kLength + kLength) % kLength];
        return wb::mismatch(d_out_.download(), want);
    }
    double bytes() const override { return 8.0 * double(index_.size()); }

private:
    std::vector<float> values_;
    std::vector<int> index_;
    wb::DeviceBuffer<float> d_values_;
    wb::DeviceBuffer<int> d_index_;
    wb::DeviceBuffer<float> d_out_;
    wb::DeviceBuffer<int> d_errors_;
};
WORKLOAD(Gather, "gathers with wrapped indexes", 1 << 27, 100003);

}  // namespace
