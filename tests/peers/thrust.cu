// SPDX-License-Identifier: MIT
// Thrust, NVIDIA's algorithms in the manner of the C++ standard library, on the work of
// lessons 26 to 28.
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>

#include "common/harness/workloads/segments.h"
#include "common/harness/workloads/selection.h"
#include "common/harness/workloads/sorting.h"

namespace {

struct Above {
    float limit;
    __host__ __device__ bool operator()(float value) const { return value > limit; }
};
struct Marked {
    __host__ __device__ bool operator()(unsigned char mark) const { return mark != 0; }
};

template <int kPercent, bool kOthersToo>
class Selection : public wb::Selection<kPercent, kOthersToo> {
public:
    explicit Selection(size_t n)
        : wb::Selection<kPercent, kOthersToo>(n), d_others_(kOthersToo ? n : 0) {}
    void run() override {
        const float *begin = this->x_.get(), *end = begin + this->x_.size();
        float* const out = this->d_out_.get();
        const Above above{this->kLimit};
        if constexpr (kOthersToo) {
            const auto ends = thrust::stable_partition_copy(
                thrust::device, begin, end, out, d_others_.get(), above);
            this->got_ = ends.first - out;
        } else {
            this->got_ = thrust::copy_if(thrust::device, begin, end, out, above) - out;
        }
    }

private:
    const float* others() const override { return d_others_.get(); }
    wb::DeviceBuffer<float> d_others_;
};

struct Half final : Selection<50, false> {
    using Selection::Selection;
};
WORKLOAD(Half, "keeps half of the floats", 1 << 28, 100003);
struct Few final : Selection<5, false> {
    using Selection::Selection;
};
WORKLOAD(Few, "keeps 5 of 100 floats", 1 << 28, 100003);
struct Both final : Selection<50, true> {
    using Selection::Selection;
};
WORKLOAD(Both, "partitions floats", 1 << 27, 100003);

// Rows of four columns, one of ten.
class Rows final : public wb::Workload {
public:
    explicit Rows(size_t n)
        : mask_(n, mask_of(std::min(n, wb::kPeriod))), energy_(wb::repeated_floats(n, 2)),
          eta_(wb::repeated_floats(n, 3)), phi_(wb::repeated_floats(n, 4)),
          charge_(wb::repeated_ints(n, 5, -1, 1)), out_energy_(n), out_eta_(n), out_phi_(n),
          out_charge_(n) {
        for (size_t i = 0; i < mask_.values().size(); ++i)
            if (mask_.values()[i]) kept_ += mask_.count(i);
    }
    void run() override {
        const auto rows = thrust::make_zip_iterator(
            thrust::make_tuple(energy_.get(), eta_.get(), phi_.get(), charge_.get()));
        const auto out = thrust::make_zip_iterator(thrust::make_tuple(
            out_energy_.get(), out_eta_.get(), out_phi_.get(), out_charge_.get()));
        got_ =
            thrust::copy_if(thrust::device, rows, rows + mask_.size(), mask_.get(), out, Marked{}) -
            out;
    }
    void reference() override {
        for (size_t i = 0; i < mask_.values().size(); ++i) {
            if (!mask_.values()[i]) continue;
            want_energy_.push_back(energy_.values()[i]);
            want_charge_.push_back(charge_.values()[i]);
        }
    }
    size_t reference_elements() const override { return mask_.values().size(); }
    std::string verify() override {
        if (uint64_t(got_) != kept_)
            return "got " + std::to_string(got_) + " rows, want " + std::to_string(kept_);
        std::string text = wb::device_mismatch<float>(out_energy_.get(), kept_, [&](size_t i) {
            return want_energy_[i % want_energy_.size()];
        });
        if (text.empty())
            text = wb::device_mismatch<int>(out_charge_.get(), kept_, [&](size_t i) {
                return want_charge_[i % want_charge_.size()];
            });
        return text;
    }
    double bytes() const override { return double(mask_.size()) + 32.0 * double(kept_); }

private:
    static std::vector<unsigned char> mask_of(size_t n) {
        return wb::made_of<unsigned char>(
            n, [](size_t i) { return wb::splitmix64(i) % 10 == 0 ? 1 : 0; });
    }
    wb::Repeated<unsigned char> mask_;
    wb::Repeated<float> energy_, eta_, phi_;
    wb::Repeated<int> charge_;
    wb::DeviceBuffer<float> out_energy_, out_eta_, out_phi_;
    wb::DeviceBuffer<int> out_charge_;
    uint64_t kept_ = 0;
    ptrdiff_t got_ = 0;
    std::vector<float> want_energy_;
    std::vector<int> want_charge_;
};
WORKLOAD(Rows, "keeps rows of a table", 1 << 27, 100003);

// Thrust sorts in place: a copy of the input, which prepare() makes.
template <class Key, bool kValues>
class Sorts : public wb::Sorting<Key, kValues> {
public:
    using wb::Sorting<Key, kValues>::Sorting;
    void prepare() override {
        copy(this->out_, this->in_);
        copy(this->out_values_, this->in_values_);
    }
    void run() override {
        Key *begin = this->out_.get(), *end = begin + this->out_.size();
        if constexpr (kValues)
            thrust::stable_sort_by_key(thrust::device, begin, end, this->out_values_.get());
        else
            thrust::stable_sort(thrust::device, begin, end);
    }

private:
    template <class T>
    static void copy(wb::DeviceBuffer<T>& to, const wb::DeviceBuffer<T>& from) {
        CUDA_CHECK(cudaMemcpyAsync(
            to.get(), from.get(), from.size() * sizeof(T), cudaMemcpyDeviceToDevice));
    }
};
struct SortsFloats final : Sorts<float, false> {
    using Sorts::Sorts;
};
WORKLOAD(SortsFloats, "sorts floats", 1 << 27, 100003);
struct SortsFloatsWithValues final : Sorts<float, true> {
    using Sorts::Sorts;
};
WORKLOAD(SortsFloatsWithValues, "sorts floats with values", 1 << 27, 100003);
struct SortsDoubles final : Sorts<double, false> {
    using Sorts::Sorts;
};
WORKLOAD(SortsDoubles, "sorts doubles", 100'000'000, 100003);

using Row = thrust::tuple<float, float, float, float>;
struct AddRows {
    __host__ __device__ Row operator()(const Row& a, const Row& b) const {
        return {thrust::get<0>(a) + thrust::get<0>(b),
                thrust::get<1>(a) + thrust::get<1>(b),
                thrust::get<2>(a) + thrust::get<2>(b),
                thrust::get<3>(a) + thrust::get<3>(b)};
    }
};
struct SameKey {
    __host__ __device__ bool operator()(int a, int b) const { return a == b; }
};

template <int kLength>
class Groups : public wb::GroupSums<kLength> {
public:
    using wb::GroupSums<kLength>::GroupSums;
    void run() override {
        const auto rows = [](auto& columns) {
            return thrust::make_zip_iterator(thrust::make_tuple(
                columns[0].get(), columns[1].get(), columns[2].get(), columns[3].get()));
        };
        const int* key = this->d_key_.get();
        const auto ends = thrust::reduce_by_key(thrust::device,
                                                key,
                                                key + this->n_,
                                                rows(this->column_),
                                                this->d_group_key_.get(),
                                                rows(this->d_sums_),
                                                SameKey{},
                                                AddRows{});
        this->got_ = size_t(ends.first - this->d_group_key_.get());
    }
};
struct ShortGroups final : Groups<10> {
    using Groups::Groups;
};
WORKLOAD(ShortGroups, "sums groups of 10 rows", 1 << 27, 100003);
struct LongGroups final : Groups<10000> {
    using Groups::Groups;
};
WORKLOAD(LongGroups, "sums groups of 10,000 rows", 1 << 27, 100003);

}  // namespace
