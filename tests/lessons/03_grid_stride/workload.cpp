// SPDX-License-Identifier: MIT
// What is timed of lesson 03: the addition by a grid that just fills the card, and by a far too
// small one.
#include "grid_stride.h"
#include "workloads/workload_data.h"

namespace {

int multiprocessors() {
    int count = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return count;
}

template <int kBlocksEach>  // blocks for each multiprocessor; 0: one block in all
class Add : public wb::Elementwise<float> {
public:
    explicit Add(size_t n)
        : Elementwise(n), a_(wb::repeated_floats(n, 1)), b_(wb::repeated_floats(n, 2)),
          blocks_(kBlocksEach ? kBlocksEach * multiprocessors() : 1) {}
    void run() override { add(a_.get(), b_.get(), d_out_.get(), n_, blocks_, 256); }
    void fill(size_t begin, size_t end) override {
        const auto &a = a_.values(), &b = b_.values();
        for (size_t i = begin; i < end; ++i) want_[i] = a[i] + b[i];
    }
    double bytes() const override { return 12.0 * double(n_); }

private:
    wb::Repeated<float> a_, b_;
    int blocks_;
};
struct FullGrid final : Add<8> {
    using Add::Add;
};
struct OneBlock final : Add<0> {
    using Add::Add;
};
WORKLOAD(FullGrid, "adds in strides, 8 blocks on each multiprocessor", 1 << 28, 100003);
WORKLOAD(OneBlock, "adds in strides, one block in all", 1 << 22, 10007);

}  // namespace
