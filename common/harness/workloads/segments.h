// SPDX-License-Identifier: MIT
// The work of lesson 28: tables with sorted keys, and sparse matrices of three shapes, with a check
// of every sum. The lesson and the libraries differ in run() alone. Values are small whole numbers,
// so that sums of floats are exact in any order.
#pragma once

#include <array>

#include "workload_data.h"

namespace wb {

// Sends made_of(size, f(first + i)) to the device, piece by piece.
template <class T>
void fill_device(T* to, size_t n, const std::function<T(size_t)>& f) {
    constexpr size_t kPiece = size_t(1) << 24;
    for (size_t first = 0; first < n; first += kPiece) {
        const size_t size = std::min(kPiece, n - first);
        const std::vector<T> piece = made_of<T>(size, [&](size_t i) { return f(first + i); });
        CUDA_CHECK(cudaMemcpy(to + first, piece.data(), size * sizeof(T), cudaMemcpyHostToDevice));
    }
}

// n rows with four columns. A row begins a new group with a chance of one in kLength; keys have
// gaps. What the device holds repeats after kPeriod rows, with other keys.
template <int kLength>
class GroupSums : public Workload {
public:
    static constexpr int kColumns = 4;
    explicit GroupSums(size_t n)
        : n_(n), column_{columns_of(n, 1), columns_of(n, 2), columns_of(n, 3), columns_of(n, 4)},
          d_key_(n) {
        const size_t rows = std::min(n, kPeriod);
        keys_.resize(rows);
        for (size_t i = 0, last = 0; i < rows; ++i) {
            const uint64_t bits = splitmix64(~uint64_t(i));
            if (i > 0 && bits % kLength == 0) last += 1 + (bits >> 32) % 3;
            if (i == 0 || int(last) != keys_[i - 1]) begins_.push_back(i);
            keys_[i] = int(last);
        }
        fill_device<int>(d_key_.get(), n, [this](size_t i) { return key(i); });
        const size_t periods = n / rows;
        groups_ = periods * begins_.size();
        while (last_groups_ < begins_.size() && begins_[last_groups_] < n % rows) ++last_groups_;
        groups_ += last_groups_;
        d_group_key_ = DeviceBuffer<int>(groups_);
        for (int c = 0; c < kColumns; ++c) d_sums_.emplace_back(groups_);
    }
    void reference() override {
        for (int c = 0; c < kColumns; ++c) sums_[c] = sums_of(c, begins_.size(), keys_.size());
        for (int c = 0; c < kColumns; ++c)
            last_sums_[c] = sums_of(c, last_groups_, n_ % keys_.size());
    }
    size_t reference_elements() const override { return keys_.size(); }
    std::string verify() override {
        if (got_ != groups_)
            return "got " + std::to_string(got_) + " groups, want " + std::to_string(groups_);
        const size_t whole = begins_.size();
        std::string text = device_mismatch<int>(d_group_key_.get(), groups_, [&](size_t g) {
            return key(g / whole * keys_.size() + begins_[g % whole]);
        });
        for (int c = 0; c < kColumns && text.empty(); ++c)
            text = device_mismatch<float>(d_sums_[c].get(), groups_, [&](size_t g) {
                return g < groups_ - last_groups_ ? sums_[c][g % whole] : last_sums_[c][g % whole];
            });
        return text;
    }
    double bytes() const override {
        return sizeof(float) * (1.0 + kColumns) * double(n_ + groups_);
    }
    const char* unit() const override { return "rows"; }

protected:
    size_t n_, groups_ = 0, got_ = 0;
    std::array<Repeated<float>, kColumns> column_;
    DeviceBuffer<int> d_key_, d_group_key_{0};
    std::vector<DeviceBuffer<float>> d_sums_;

private:
    static Repeated<float> columns_of(size_t n, uint64_t seed) {
        return repeated_whole_numbers(n, seed, -8, 8);
    }
    // Keys go on from period to period, after a gap.
    int key(size_t i) const {
        return int(i / keys_.size()) * (keys_.back() + 2) + keys_[i % keys_.size()];
    }
    std::vector<float> sums_of(int c, size_t groups, size_t rows) const {
        std::vector<float> sums(groups, 0.0f);
        for (size_t g = 0; g < groups; ++g) {
            const size_t end = std::min(rows, g + 1 < begins_.size() ? begins_[g + 1] : rows);
            for (size_t i = begins_[g]; i < end; ++i) sums[g] += column_[c].values()[i];
        }
        return sums;
    }
    std::vector<int> keys_;       // of one period
    std::vector<size_t> begins_;  // of its groups
    size_t last_groups_ = 0;      // of the rows after the last whole period
    std::array<std::vector<float>, kColumns> sums_, last_sums_;
};

// The number of entries in a row, by its number.
enum class Rows {
    kShort,    // 1 to 9 entries, 5 on average, in columns near the diagonal
    kBand,     // 64 neighbouring columns
    kUnequal,  // half of the rows have 3 entries, a quarter 4, an eighth 7, and a few 100,000
};

// A square matrix with n entries.
template <Rows kRows>
class SparseProduct : public Workload {
public:
    explicit SparseProduct(size_t n)
        : n_(n), value_(repeated_whole_numbers(n, 5, 1, 4)), d_column_(n) {
        row_begin_.push_back(0);
        for (size_t r = 0; size_t(row_begin_.back()) < n; ++r)
            row_begin_.push_back(int(std::min(n, row_begin_.back() + length(r))));
        rows_ = row_begin_.size() - 1;
        x_ = made_of<float>(rows_, [](size_t i) { return float(1 + splitmix64(i) % 8); });
        fill_device<int>(d_column_.get(), n, [this](size_t i) { return column(i); });
        d_row_begin_ = DeviceBuffer<int>(row_begin_);
        d_x_ = DeviceBuffer<float>(x_);
        d_y_ = DeviceBuffer<float>(rows_);
    }
    void reference() override {
        want_.assign(rows_, 0.0f);
        in_parallel(rows_, [&](size_t begin, size_t end) {
            for (size_t r = begin; r < end; ++r)
                for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i)
                    want_[r] += value_.values()[i % value_.values().size()] * x_[column(i)];
        });
    }
    size_t reference_elements() const override { return n_; }
    std::string verify() override {
        return device_mismatch<float>(d_y_.get(), rows_, [this](size_t r) { return want_[r]; });
    }
    double bytes() const override { return 8.0 * double(n_) + 12.0 * double(rows_); }
    const char* unit() const override { return "entries"; }

protected:
    size_t n_, rows_ = 0;
    Repeated<float> value_;
    DeviceBuffer<int> d_column_, d_row_begin_{0};
    DeviceBuffer<float> d_x_{0}, d_y_{0};

private:
    static size_t length(size_t row) {
        if (kRows == Rows::kBand) return 64;
        const uint64_t bits = splitmix64(row);
        if (kRows == Rows::kShort) return 1 + bits % 9;
        double entries = 3;
        for (uint64_t left = bits; left % 2 == 0 && entries < 4e5; left /= 2) entries *= 1.6;
        return size_t(entries);
    }
    int column(size_t i) const {
        if (kRows == Rows::kBand) return int((i / 64 + i % 64) % rows_);
        if (kRows == Rows::kShort) return int((i / 5 + splitmix64(i) % 1024) % rows_);
        return int(splitmix64(i) % rows_);
    }
    std::vector<int> row_begin_;
    std::vector<float> x_, want_;
};

}  // namespace wb
