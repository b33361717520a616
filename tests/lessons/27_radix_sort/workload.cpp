// SPDX-License-Identifier: MIT
// The timed workloads of lesson 27: floats without and with values, and 100 million doubles.
#include "radix_sort.h"
#include "workloads/sorting.h"

namespace {

template <class Key, bool kValues>
class Sorts : public wb::Sorting<Key, kValues> {
public:
    explicit Sorts(size_t n)
        : wb::Sorting<Key, kValues>(n), spare_(n), spare_values_(kValues ? n : 0),
          scratch_(scratch_bytes(int(n)) / sizeof(uint64_t)) {}
    void run() override {
        radix_sort(ConstPairs<Key>{this->in_.get(), this->values_or_null(this->in_values_)},
                   Pairs<Key>{this->out_.get(), this->values_or_null(this->out_values_)},
                   Pairs<Key>{spare_.get(), this->values_or_null(spare_values_)},
                   int(this->in_.size()),
                   scratch_.get());
    }

private:
    wb::DeviceBuffer<Key> spare_;
    wb::DeviceBuffer<unsigned> spare_values_;
    wb::DeviceBuffer<uint64_t> scratch_;
};

struct Floats final : Sorts<float, false> {
    using Sorts::Sorts;
};
WORKLOAD(Floats, "sorts floats", 1 << 27, 100003);

struct FloatsWithValues final : Sorts<float, true> {
    using Sorts::Sorts;
};
WORKLOAD(FloatsWithValues, "sorts floats with values", 1 << 27, 100003);

struct Doubles final : Sorts<double, false> {
    using Sorts::Sorts;
};
WORKLOAD(Doubles, "sorts doubles", 100'000'000, 100003);

}  // namespace
