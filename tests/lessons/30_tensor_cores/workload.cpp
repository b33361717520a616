// SPDX-License-Identifier: MIT
// The timed workloads of lesson 30: products of square matrices of halves, without gaps.
#include "tensor_cores.h"
#include "workloads/products.h"

namespace {

struct Any : wb::SquareProductOf<half> {
    using SquareProductOf::SquareProductOf;
    void run() override {
        multiply_any(a_.get(), b_.get(), d_c_.get(), {side_, side_, side_, side_, side_, side_});
    }
};
struct AnyLarge final : Any {
    using Any::Any;
};
struct Padded final : wb::SquareProductOf<half> {
    using SquareProductOf::SquareProductOf;
    void run() override {
        multiply_padded(a_.get(),
                        b_.get(),
                        d_c_.get(),
                        {side_, side_, side_, side_, side_, side_},
                        Order::kRows);
    }
};
WORKLOAD(Any, "multiplies halves, 4096 x 4096", 1 << 24, 128 * 128);
WORKLOAD(AnyLarge, "multiplies halves, 8192 x 8192", 1 << 26, 101 * 101);
WORKLOAD(Padded, "multiplies whole fragments", 1 << 24, 128 * 128);

}  // namespace
