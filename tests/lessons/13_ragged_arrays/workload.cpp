// SPDX-License-Identifier: MIT
// What is timed of lesson 13: the sums of short lists by threads and of long lists by warps.
#include "ragged_arrays.h"
#include "workloads/workload_data.h"

namespace {

using SumLists = void (*)(const float*, const int*, float*, int);

// n elements in lists whose lengths are random, from 0 to twice the mean.
template <SumLists kSum, int kMean>
class Lists : public wb::Workload {
public:
    explicit Lists(size_t n)
        : content_(wb::repeated_whole_numbers(n, 1, -8, 8)), offsets_(cut(n)), d_offsets_(offsets_),
          d_sums_(offsets_.size() - 1) {}
    void run() override {
        kSum(content_.get(), d_offsets_.get(), d_sums_.get(), int(d_sums_.size()));
    }
    void reference() override {
        const auto& values = content_.values();
        want_.resize(d_sums_.size());
        wb::in_parallel(want_.size(), [&](size_t begin, size_t end) {
            for (size_t k = begin; k < end; ++k) {
                float sum = 0;
                for (int i = offsets_[k]; i < offsets_[k + 1]; ++i)
                    sum += values[size_t(i) % values.size()];
                want_[k] = sum;
            }
        });
    }
    size_t reference_elements() const override { return content_.size(); }
    std::string verify() override { return wb::mismatch(d_sums_.download(), want_); }
    double bytes() const override {
        return 4.0 * double(content_.size() + offsets_.size() + d_sums_.size());
    }

private:
    static std::vector<int> cut(size_t n) {
        std::vector<int> offsets{0};
        for (size_t k = 0, at = 0; at < n; ++k) {
            at = std::min<size_t>(n, at + wb::splitmix64(k) % (2 * kMean + 1));
            offsets.push_back(int(at));
        }
        return offsets;
    }
    wb::Repeated<float> content_;
    std::vector<int> offsets_;
    wb::DeviceBuffer<int> d_offsets_;
    wb::DeviceBuffer<float> d_sums_;
    std::vector<float> want_;
};
struct ShortLists final : Lists<list_sums, 4> {
    using Lists::Lists;
};
struct LongLists final : Lists<long_list_sums, 500> {
    using Lists::Lists;
};
struct LongListsByThreads final : Lists<list_sums, 500> {
    using Lists::Lists;
};
WORKLOAD(ShortLists, "sums short lists, a thread each", 1 << 26, 50021);
WORKLOAD(LongLists, "sums long lists, a warp each", 1 << 27, 100003);
WORKLOAD(LongListsByThreads, "sums long lists, a thread each", 1 << 27, 100003);

}  // namespace
