// SPDX-License-Identifier: MIT
// The timed workloads of lesson 29: products of square matrices without gaps.
#include "matmul_tiled.h"
#include "workloads/products.h"

namespace {

using Matmul = void (*)(const float*, const float*, float*, Sizes);

template <Matmul kMatmul>
class Multiply : public wb::SquareProduct {
public:
    using SquareProduct::SquareProduct;
    void run() override {
        kMatmul(a_.get(), b_.get(), d_c_.get(), {side_, side_, side_, side_, side_, side_});
    }
};

struct Registers final : Multiply<matmul_registers> {
    using Multiply::Multiply;
};
struct RegistersLarge final : Multiply<matmul_registers> {
    using Multiply::Multiply;
};
struct Tiled final : Multiply<matmul_tiled> {
    using Multiply::Multiply;
};
WORKLOAD(Registers, "multiplies matrices of 4096 x 4096", 1 << 24, 128 * 128);
WORKLOAD(RegistersLarge, "multiplies matrices of 8192 x 8192", 1 << 26, 101 * 101);
WORKLOAD(Tiled, "multiplies matrices through a tile", 1 << 24, 101 * 101);

}  // namespace
