// SPDX-License-Identifier: MIT
// What is timed of lesson 16: the transpose through a tile, and the naive one.
#include "lesson_test.h"
#include "transpose_bank_conflicts.h"
#include "workload.h"

#include <cmath>

namespace {

using TransposeIt = void (*)(const float*, float*, int, int, int, int);

// A matrix of about n elements, 5 rows more than columns, without gaps.
template <TransposeIt kTranspose>
class Transposed : public wb::Workload {
public:
    explicit Transposed(size_t n)
        : cols_(int(std::sqrt(double(n)))), rows_(cols_ + 5),
          in_(wb::random_floats(size_t(rows_) * cols_, 3)), d_in_(in_), d_out_(in_.size()) {}
    void run() override { kTranspose(d_in_.get(), d_out_.get(), rows_, cols_, cols_, rows_); }
    std::string verify() override {
        std::vector<float> want(in_.size());
        for (int row = 0; row < rows_; ++row)
            for (int col = 0; col < cols_; ++col)
                want[size_t(col) * rows_ + row] = in_[size_t(row) * cols_ + col];
        return wb::matrix_mismatch(rows_, d_out_.download(), want);
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    int cols_, rows_;
    std::vector<float> in_;
    wb::DeviceBuffer<float> d_in_, d_out_;
};

class Tiled final : public Transposed<transpose> {
    using Transposed::Transposed;
};
class Naive final : public Transposed<transpose_naive> {
    using Transposed::Transposed;
};
WORKLOAD(Tiled, "transposes through a tile", 1 << 27, 100003);
WORKLOAD(Naive, "transposes without a tile", 1 << 27, 100003);

}  // namespace
