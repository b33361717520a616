// SPDX-License-Identifier: MIT
// The timed workloads of lesson 25: running sums in three launches and in one, and offsets of
// lists.
#include "scan.h"
#include "workloads/workload_data.h"

namespace {

// Sums of numbers that repeat: those of one period, and how much each period adds.
template <class T>
class SumsOfPeriod {
public:
    void make(const std::vector<int>& values) {
        sums_.resize(values.size());
        T sum = 0;
        for (size_t i = 0; i < values.size(); ++i) sums_[i] = sum += T(values[i]);
    }
    // The sum of the elements 0 to i.
    T operator()(size_t i) const {
        return T(i / sums_.size()) * sums_.back() + sums_[i % sums_.size()];
    }

private:
    std::vector<T> sums_;
};

using SumThem = void (*)(const int*, int*, int, void*);

template <SumThem kSum>
class RunningSums : public wb::Workload {
public:
    explicit RunningSums(size_t n)
        : x_(wb::repeated_ints(n, 1, -8, 8)), d_out_(n),
          d_scratch_(scratch_bytes(int(n)) / sizeof(TileState)) {}
    void run() override { kSum(x_.get(), d_out_.get(), int(x_.size()), d_scratch_.get()); }
    void reference() override { want_.make(x_.values()); }
    size_t reference_elements() const override { return x_.values().size(); }
    std::string verify() override {
        return wb::device_mismatch<int>(
            d_out_.get(), x_.size(), [this](size_t i) { return want_(i); });
    }
    double bytes() const override { return 8.0 * double(x_.size()); }

private:
    wb::Repeated<int> x_;
    wb::DeviceBuffer<int> d_out_;
    wb::DeviceBuffer<TileState> d_scratch_;
    SumsOfPeriod<int> want_;
};

void in_three_launches(const int* d_in, int* d_out, int n, void* d_scratch) {
    scan(Operation::kSum, Kind::kInclusive, d_in, d_out, n, d_scratch);
}

struct InOnePass final : RunningSums<sum_in_one_pass> {
    using RunningSums::RunningSums;
};
WORKLOAD(InOnePass, "running sums", 1 << 28, 100003);

struct InThreeLaunches final : RunningSums<in_three_launches> {
    using RunningSums::RunningSums;
};
WORKLOAD(InThreeLaunches, "running sums in three launches", 1 << 28, 100003);

class Offsets final : public wb::Workload {
public:
    explicit Offsets(size_t n)
        : counts_(wb::repeated_ints(n, 2, 0, 40)), d_offsets_(n + 1),
          d_scratch_(scratch_bytes(int(n)) / sizeof(TileState)) {}
    void run() override {
        offsets(counts_.get(), d_offsets_.get(), int(counts_.size()), d_scratch_.get());
    }
    void reference() override { want_.make(counts_.values()); }
    size_t reference_elements() const override { return counts_.values().size(); }
    std::string verify() override {
        return wb::device_mismatch<long long>(
            d_offsets_.get(), d_offsets_.size(), [this](size_t i) {
                return i == 0 ? 0 : want_(i - 1);
            });
    }
    double bytes() const override { return 12.0 * double(counts_.size()); }

private:
    wb::Repeated<int> counts_;
    wb::DeviceBuffer<long long> d_offsets_;
    wb::DeviceBuffer<TileState> d_scratch_;
    SumsOfPeriod<long long> want_;
};
WORKLOAD(Offsets, "offsets of lists", 1 << 27, 100003);

}  // namespace
