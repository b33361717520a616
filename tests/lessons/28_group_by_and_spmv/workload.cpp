// SPDX-License-Identifier: MIT
// The timed workloads of lesson 28: sums of short and of long groups, and products with matrices of
// three shapes: rows of a few entries, rows of 64 entries, and rows of which a few are very long.
#include "group_by_and_spmv.h"
#include "workloads/segments.h"

namespace {

template <int kLength>
class Groups : public wb::GroupSums<kLength> {
public:
    explicit Groups(size_t n)
        : wb::GroupSums<kLength>(n), d_scratch_(scratch_bytes(int(n)) / sizeof(uint64_t)) {}
    void run() override {
        ConstTable in{};
        Table sums{};
        for (int c = 0; c < kColumns; ++c) {
            in.column[c] = this->column_[c].get();
            sums.column[c] = this->d_sums_[c].get();
        }
        this->got_ = size_t(sum_by_key(this->d_key_.get(),
                                       in,
                                       int(this->n_),
                                       this->d_group_key_.get(),
                                       sums,
                                       d_scratch_.get()));
    }

private:
    wb::DeviceBuffer<uint64_t> d_scratch_;
};
struct ShortGroups final : Groups<10> {
    using Groups::Groups;
};
WORKLOAD(ShortGroups, "sums groups of 10 rows", 1 << 27, 100003);
struct LongGroups final : Groups<10000> {
    using Groups::Groups;
};
WORKLOAD(LongGroups, "sums groups of 10,000 rows", 1 << 27, 100003);

using Multiply = void (*)(CsrMatrix, const float*, float*);

template <wb::Rows kRows, Multiply kMultiply>
class Product : public wb::SparseProduct<kRows> {
public:
    using wb::SparseProduct<kRows>::SparseProduct;
    void run() override {
        kMultiply({int(this->rows_),
                   int(this->n_),
                   this->d_row_begin_.get(),
                   this->d_column_.get(),
                   this->value_.get()},
                  this->d_x_.get(),
                  this->d_y_.get());
    }
};
struct ShortRowsByThreads final : Product<wb::Rows::kShort, multiply_by_threads> {
    using Product::Product;
};
WORKLOAD(ShortRowsByThreads, "multiplies short rows by threads", 1 << 27, 100003);
struct ShortRows final : Product<wb::Rows::kShort, multiply_by_warps> {
    using Product::Product;
};
WORKLOAD(ShortRows, "multiplies short rows", 1 << 27, 100003);
struct Band final : Product<wb::Rows::kBand, multiply_by_warps> {
    using Product::Product;
};
WORKLOAD(Band, "multiplies rows of 64 entries", 1 << 27, 100003);
struct UnequalRows final : Product<wb::Rows::kUnequal, multiply_by_warps> {
    using Product::Product;
};
WORKLOAD(UnequalRows, "multiplies unequal rows", 1 << 27, 100003);

}  // namespace
