// SPDX-License-Identifier: MIT
// What is timed of lesson 02: the addition and the gather, both limited by memory.
#include "boundary_checks.h"
#include "workloads/workload_data.h"

namespace {

class AddVectors final : public wb::Elementwise<float> {
public:
    explicit AddVectors(size_t n)
        : Elementwise(n), a_(wb::repeated_floats(n, 1)), b_(wb::repeated_floats(n, 2)) {}
    void run() override { vector_add(a_.get(), b_.get(), d_out_.get(), int(n_)); }
    void fill(size_t begin, size_t end) override {
        const auto &a = a_.values(), &b = b_.values();
        for (size_t i = begin; i < end; ++i) want_[i] = a[i] + b[i];
    }
    double bytes() const override { return 12.0 * double(n_); }
    double operations() const override { return double(n_); }

private:
    wb::Repeated<float> a_, b_;
};
WORKLOAD(AddVectors, "adds two vectors", 1 << 28, 100003);

class Gather final : public wb::Elementwise<float> {
public:
    static constexpr int kLength = 4096;  // fits in any cache: what counts is index and output
    explicit Gather(size_t n)
        : Elementwise(n), values_(wb::random_floats(kLength, 3)),
          index_(wb::repeated_ints(n, 4, -9000, 9000)), d_values_(values_), d_errors_(1) {}
    void run() override {
        gather(d_values_.get(),
               kLength,
               index_.get(),
               d_out_.get(),
               int(n_),
               OutOfRange::kWrap,
               d_errors_.get());
    }
    void fill(size_t begin, size_t end) override {
        const auto& index = index_.values();
        for (size_t k = begin; k < end; ++k)
            want_[k] = values_[(index[k] % kLength + kLength) % kLength];
    }
    double bytes() const override { return 8.0 * double(n_); }

private:
    std::vector<float> values_;
    wb::Repeated<int> index_;
    wb::DeviceBuffer<float> d_values_;
    wb::DeviceBuffer<int> d_errors_;
};
WORKLOAD(Gather, "gathers with wrapped indexes", 1 << 27, 100003);

}  // namespace
