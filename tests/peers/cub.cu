// SPDX-License-Identifier: MIT
// CUB, NVIDIA's collection of parallel algorithms, on the work of lessons 19 to 21 and 25 to 28.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include "common/harness/workloads/segments.h"
#include "common/harness/workloads/selection.h"
#include "common/harness/workloads/sorting.h"

namespace {

// CUB's calls are made twice: without memory they say how much they need.
class Scratch {
public:
    template <class Call>
    explicit Scratch(const Call& call) {
        CUDA_CHECK(call(nullptr, bytes_));
        CUDA_CHECK(cudaMalloc(&data_, bytes_ + 1));
    }
    ~Scratch() { cudaFree(data_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    template <class Call>
    void operator()(const Call& call) {
        CUDA_CHECK(call(data_, bytes_));
    }

private:
    void* data_ = nullptr;
    size_t bytes_ = 0;
};

class Sum final : public wb::Workload {
    auto call() {
        return [this](void* memory, size_t& bytes) {
            return cub::DeviceReduce::Sum(memory, bytes, x_.get(), d_sum_.get(), int(x_.size()));
        };
    }

public:
    explicit Sum(size_t n)
        : x_(wb::repeated_whole_numbers(n, 1, 1, 8)), d_sum_(1), scratch_(call()) {}
    void run() override { scratch_(call()); }
    void reference() override {
        want_ = 0;
        for (size_t i = 0; i < x_.values().size(); ++i)
            want_ += double(x_.values()[i]) * double(x_.count(i));
    }
    size_t reference_elements() const override { return x_.values().size(); }
    std::string verify() override {  // in float, in an order of CUB's own
        const float got = d_sum_.download()[0];
        if (std::fabs(got - want_) <= 1e-5 * want_) return "";
        return "the sum is " + wb::shown(got) + ", want " + wb::shown(want_);
    }
    double bytes() const override { return 4.0 * double(x_.size()); }

private:
    wb::Repeated<float> x_;
    wb::DeviceBuffer<float> d_sum_;
    Scratch scratch_;
    double want_ = 0;
};
WORKLOAD(Sum, "sums all elements", 1 << 28, 100003);

class RunningSums final : public wb::Workload {
    auto call() {
        return [this](void* memory, size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(
                memory, bytes, x_.get(), d_out_.get(), int(x_.size()));
        };
    }

public:
    explicit RunningSums(size_t n)
        : x_(wb::repeated_ints(n, 1, -8, 8)), d_out_(n), scratch_(call()) {}
    void run() override { scratch_(call()); }
    void reference() override {
        sums_ = x_.values();
        for (size_t i = 1; i < sums_.size(); ++i) sums_[i] += sums_[i - 1];
    }
    size_t reference_elements() const override { return x_.values().size(); }
    std::string verify() override {
        return wb::device_mismatch<int>(d_out_.get(), x_.size(), [this](size_t i) {
            return int(i / sums_.size()) * sums_.back() + sums_[i % sums_.size()];
        });
    }
    double bytes() const override { return 8.0 * double(x_.size()); }

private:
    wb::Repeated<int> x_;
    wb::DeviceBuffer<int> d_out_;
    Scratch scratch_;
    std::vector<int> sums_;
};
WORKLOAD(RunningSums, "running sums", 1 << 28, 100003);

struct Above {
    float limit;
    __host__ __device__ bool operator()(float value) const { return value > limit; }
};

template <int kPercent>
class Selection : public wb::Selection<kPercent> {
    auto call() {
        return [this](void* memory, size_t& bytes) {
            return cub::DeviceSelect::If(memory,
                                         bytes,
                                         this->x_.get(),
                                         this->d_out_.get(),
                                         d_number_.get(),
                                         int(this->x_.size()),
                                         Above{this->kLimit});
        };
    }

public:
    explicit Selection(size_t n) : wb::Selection<kPercent>(n), d_number_(1), scratch_(call()) {}
    void run() override {  // with the number, as the lesson's functions return it
        scratch_(call());
        int number = 0;
        CUDA_CHECK(cudaMemcpy(&number, d_number_.get(), sizeof number, cudaMemcpyDeviceToHost));
        this->got_ = number;
    }

private:
    wb::DeviceBuffer<int> d_number_;
    Scratch scratch_;
};
struct Half final : Selection<50> {
    using Selection::Selection;
};
WORKLOAD(Half, "keeps half of the floats", 1 << 28, 100003);
struct Few final : Selection<5> {
    using Selection::Selection;
};
WORKLOAD(Few, "keeps 5 of 100 floats", 1 << 28, 100003);

template <class Key, bool kValues>
class Sorts : public wb::Sorting<Key, kValues> {
    auto call() {
        return [this](void* memory, size_t& bytes) {
            const int n = int(this->in_.size());
            if constexpr (kValues)
                return cub::DeviceRadixSort::SortPairs(memory,
                                                       bytes,
                                                       this->in_.get(),
                                                       this->out_.get(),
                                                       this->in_values_.get(),
                                                       this->out_values_.get(),
                                                       n);
            else
                return cub::DeviceRadixSort::SortKeys(
                    memory, bytes, this->in_.get(), this->out_.get(), n);
        };
    }

public:
    explicit Sorts(size_t n) : wb::Sorting<Key, kValues>(n), scratch_(call()) {}
    void run() override { scratch_(call()); }

private:
    Scratch scratch_;
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

template <int kLength>
class Groups : public wb::GroupSums<kLength> {
    auto call() {
        return [this](void* memory, size_t& bytes) {
            const auto rows = [](auto& columns) {
                return thrust::make_zip_iterator(thrust::make_tuple(
                    columns[0].get(), columns[1].get(), columns[2].get(), columns[3].get()));
            };
            return cub::DeviceReduce::ReduceByKey(memory,
                                                  bytes,
                                                  this->d_key_.get(),
                                                  this->d_group_key_.get(),
                                                  rows(this->column_),
                                                  rows(this->d_sums_),
                                                  d_number_.get(),
                                                  AddRows{},
                                                  int(this->n_));
        };
    }

public:
    explicit Groups(size_t n) : wb::GroupSums<kLength>(n), d_number_(1), scratch_(call()) {}
    void run() override {  // with the number, as the lesson's function returns it
        scratch_(call());
        int groups = 0;
        CUDA_CHECK(cudaMemcpy(&groups, d_number_.get(), sizeof groups, cudaMemcpyDeviceToHost));
        this->got_ = size_t(groups);
    }

private:
    wb::DeviceBuffer<int> d_number_;
    Scratch scratch_;
};
struct ShortGroups final : Groups<10> {
    using Groups::Groups;
};
WORKLOAD(ShortGroups, "sums groups of 10 rows", 1 << 27, 100003);
struct LongGroups final : Groups<10000> {
    using Groups::Groups;
};
WORKLOAD(LongGroups, "sums groups of 10,000 rows", 1 << 27, 100003);

template <class T, int kBins, int kEqual>
class Histogram : public wb::Workload {
    static constexpr T upper() { return std::is_integral_v<T> ? T(kBins) : T(1); }
    auto call() {
        return [this](void* memory, size_t& bytes) {
            return cub::DeviceHistogram::HistogramEven(
                memory, bytes, x_.get(), d_counts_.get(), kBins + 1, T(0), upper(), int(x_.size()));
        };
    }

public:
    explicit Histogram(size_t n)
        : x_(n, made(std::min(n, wb::kPeriod))), d_counts_(kBins), scratch_(call()) {}
    void run() override { scratch_(call()); }
    void reference() override {
        want_.assign(kBins, 0);
        for (size_t i = 0; i < x_.values().size(); ++i)
            want_[bin_of(x_.values()[i])] += int(x_.count(i));
    }
    size_t reference_elements() const override { return x_.values().size(); }
    std::string verify() override { return wb::mismatch(d_counts_.download(), want_); }
    double bytes() const override { return 4.0 * double(x_.size()); }

private:
    // In [0, 1) and with a power of two as bins, the product is exact.
    static int bin_of(T x) { return std::is_integral_v<T> ? int(x) : int(x * T(kBins)); }
    static std::vector<T> made(size_t n) {
        return wb::made_of<T>(n, [](size_t i) {
            if (int(wb::splitmix64(~uint64_t(i)) % 64) < kEqual) return T(0);
            if constexpr (std::is_integral_v<T>)
                return T(wb::splitmix64(i) % kBins);
            else
                return wb::uniform_float(1, i);
        });
    }
    wb::Repeated<T> x_;
    wb::DeviceBuffer<int> d_counts_;
    Scratch scratch_;
    std::vector<int> want_;
};

#define HISTOGRAM(Name, kind, type, bins, equal, words, elements)                                  \
    struct Name final : Histogram<type, bins, equal> {                                             \
        using Histogram::Histogram;                                                                \
    };                                                                                             \
    kind(Name, words, elements, 100003)

HISTOGRAM(Floats64, WORKLOAD, float, 64, 0, "64 bins of floats", 1 << 28);
HISTOGRAM(Floats256, WORKLOAD, float, 256, 0, "256 bins of floats", 1 << 28);
HISTOGRAM(Floats4096, WORKLOAD, float, 4096, 0, "4096 bins of floats", 1 << 28);
HISTOGRAM(Keys64, WORKLOAD, int, 64, 0, "64 bins", 1 << 28);
HISTOGRAM(Keys256, WORKLOAD, int, 256, 0, "256 bins", 1 << 28);
HISTOGRAM(Keys4096, WORKLOAD, int, 4096, 0, "4096 bins", 1 << 28);
HISTOGRAM(Keys4, SWEEP_WORKLOAD, int, 4, 0, "4 bins", 1 << 27);
HISTOGRAM(Keys16, SWEEP_WORKLOAD, int, 16, 0, "16 bins", 1 << 27);
HISTOGRAM(Keys1024, SWEEP_WORKLOAD, int, 1024, 0, "1024 bins", 1 << 27);
HISTOGRAM(Keys12288, SWEEP_WORKLOAD, int, 12288, 0, "12288 bins", 1 << 27);
HISTOGRAM(Skew0, SWEEP_WORKLOAD, int, 256, 0, "256 bins, 0 of 64 keys equal", 1 << 27);
HISTOGRAM(Skew16, SWEEP_WORKLOAD, int, 256, 16, "256 bins, 16 of 64 keys equal", 1 << 27);
HISTOGRAM(Skew32, SWEEP_WORKLOAD, int, 256, 32, "256 bins, 32 of 64 keys equal", 1 << 27);
HISTOGRAM(Skew48, SWEEP_WORKLOAD, int, 256, 48, "256 bins, 48 of 64 keys equal", 1 << 27);
HISTOGRAM(Skew60, SWEEP_WORKLOAD, int, 256, 60, "256 bins, 60 of 64 keys equal", 1 << 27);
HISTOGRAM(Skew64, SWEEP_WORKLOAD, int, 256, 64, "256 bins, 64 of 64 keys equal", 1 << 27);

}  // namespace
