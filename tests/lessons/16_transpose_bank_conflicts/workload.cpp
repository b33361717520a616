// SPDX-License-Identifier: MIT
// What is timed of lesson 16: the transpose through a tile, and the naive one.
#include "transpose_bank_conflicts.h"
#include "workloads/workload_data.h"

#include <cmath>

namespace {

using TransposeIt = void (*)(const float*, float*, int, int, int, int);

// A matrix of about n elements without gaps; kMoreRows more rows than columns.
template <TransposeIt kTranspose, int kMoreRows>
class Transposed : public wb::Workload {
public:
    explicit Transposed(size_t n)
        : cols_(int(std::sqrt(double(n)))), rows_(cols_ + kMoreRows),
          in_(wb::repeated_floats(size_t(rows_) * cols_, 3)), d_out_(in_.size()) {}
    void run() override { kTranspose(in_.get(), d_out_.get(), rows_, cols_, cols_, rows_); }
    void reference() override {
        if (in_.size() > in_.values().size()) return;  // each element is looked up by verify()
        want_.resize(in_.size());
        for (int row = 0; row < rows_; ++row)
            for (int col = 0; col < cols_; ++col)
                want_[size_t(col) * rows_ + row] = in_.values()[size_t(row) * cols_ + col];
    }
    size_t reference_elements() const override { return want_.size(); }
    std::string verify() override {
        const auto& values = in_.values();
        return wb::device_mismatch<float>(d_out_.get(), in_.size(), [&](size_t i) {
            const size_t from = i % rows_ * cols_ + i / rows_;
            return values[from % values.size()];
        });
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    int cols_, rows_;
    wb::Repeated<float> in_;
    wb::DeviceBuffer<float> d_out_;
    std::vector<float> want_;
};

class Tiled final : public Transposed<transpose, 0> {
    using Transposed::Transposed;
};
class TiledOdd final : public Transposed<transpose, 5> {
    using Transposed::Transposed;
};
class Naive final : public Transposed<transpose_naive, 0> {
    using Transposed::Transposed;
};
WORKLOAD(Tiled, "transposes through a tile", 1 << 28, 65536);
WORKLOAD(TiledOdd, "transposes through a tile, 5 more rows than columns", 1 << 27, 100003);
WORKLOAD(Naive, "transposes without a tile", 1 << 28, 100003);

}  // namespace
