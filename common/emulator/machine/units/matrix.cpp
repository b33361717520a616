// SPDX-License-Identifier: MIT
// Matrix instructions that multiply or move elements between registers.
#include "machine/units/matrix.h"

#include <cfenv>
#include <cmath>
#include <cstring>

#include "machine/lanes/numeric.h"
#include "machine/lanes/small_float.h"
#include "machine/units/matrix_registers.h"

namespace machine {
namespace {

uint64_t element_bits(const LaunchState& ex, const Fragment& f, unsigned lane, unsigned i) {
    const unsigned r = i / f.per_register, j = i % f.per_register;
    const std::byte* at = ex.rows + f.register_rows[r] + size_t(lane) * f.register_bytes;
    uint64_t whole = 0;
    std::memcpy(&whole, at, f.register_bytes);
    const unsigned bits = bits_of(f.element);
    return bits >= 32 ? whole : whole >> (bits * j) & ((1u << bits) - 1);
}

double number(Element element, uint64_t bits) {
    switch (element) {
    case Element::kF16:
        return double(half_to_float(uint32_t(bits)));
    case Element::kBf16:
        return double(bf16_to_float(uint32_t(bits)));
    case Element::kTf32:  // the low 13 bits are ignored
        return double(bits_as<float>(uint32_t(bits) & 0xffffe000u));
    case Element::kF32:
        return double(bits_as<float>(uint32_t(bits)));
    case Element::kF64:
        return bits_as<double>(bits);
    case Element::kE4m3:
        return small_to_double(kE4m3, uint8_t(bits));
    case Element::kE5m2:
        return small_to_double(kE5m2, uint8_t(bits));
    default:
        return 0;
    }
}
int32_t integer(Element element, uint64_t bits) {
    switch (element) {
    case Element::kS8:
        return int8_t(bits);
    case Element::kS4:
        return int32_t(uint32_t(bits) << 28) >> 28;
    default:  // u8, u4, b1 and s32
        return int32_t(uint32_t(bits));
    }
}

uint64_t encoded(Element element, double value) {
    if (element == Element::kF64) return bits_as<uint64_t>(value);
    if (element == Element::kF16) return double_to_half(value, Rounding::kNearestEven);
    const float rounded = float(value);
    return rounded == rounded ? bits_as<uint32_t>(rounded) : kCanonicalNan32;
}

template <class T, class F>
std::vector<T> gathered(const LaunchState& ex, const Fragment& f, F&& decode) {
    std::vector<T> out(size_t(f.rows) * f.columns * f.copies);
    const unsigned count = f.elements();
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
        for (unsigned i = 0; i < count; ++i)
            out[f.where[lane * count + i]] = T(decode(f.element, element_bits(ex, f, lane, i)));
    return out;
}

// d[m][n] = c[m][n] + sum over k of a[m][k] * b[k][n], computed by `step`.
template <class T, class Sum, class Step>
std::vector<Sum> product(const MatrixShape& s, unsigned matrices, const std::vector<T>& a,
                         const std::vector<T>& b, std::vector<Sum> c, Step&& step) {
    for (unsigned q = 0; q < matrices; ++q) {
        const T* const x = a.data() + size_t(q) * s.m * s.k;
        const T* const y = b.data() + size_t(q) * s.k * s.n;
        Sum* const z = c.data() + size_t(q) * s.m * s.n;
        for (unsigned m = 0; m < s.m; ++m)
            for (unsigned k = 0; k < s.k; ++k) {
                const T left = x[m * s.k + k];
                for (unsigned n = 0; n < s.n; ++n)
                    z[m * s.n + n] = step(z[m * s.n + n], left, y[k * s.n + n]);
            }
    }
    return c;
}

// f64's chain of fused operations under another rounding mode.
[[gnu::noinline]] double fused(double a, double b, double c) {
    volatile double x = a, y = b, z = c;
    volatile double result = std::fma(x, y, z);
    const double sum = result;
    return sum == sum ? sum : nan_of(a, c, b);
}

}  // namespace

// PTX ISA "wmma.mma" and "mma".
void matrix_multiply(LaunchState& ex, const MatrixOp& op) {
    const MatrixShape& s = op.shape;
    const unsigned matrices = op.c.copies;
    if (op.c.element == Element::kS32) {
        const auto a = gathered<int32_t>(ex, op.a, integer);
        const auto b = gathered<int32_t>(ex, op.b, integer);
        auto c = gathered<int64_t>(ex, op.c, integer);
        if (op.a.element == Element::kB1 && op.popc_and)
            c = product(s, 1, a, b, std::move(c), [](int64_t z, int32_t x, int32_t y) {
                return z + (x & y);
            });
        else if (op.a.element == Element::kB1)
            c = product(s, 1, a, b, std::move(c), [](int64_t z, int32_t x, int32_t y) {
                return z + (x ^ y);
            });
        else
            c = product(s, 1, a, b, std::move(c), [](int64_t z, int32_t x, int32_t y) {
                return z + int64_t(x) * y;
            });
        spread(ex, op.d, [&](unsigned at) {
            const int64_t value = c[at];
            if (!op.saturate) return uint64_t(uint32_t(value));
            return uint64_t(uint32_t(value > INT32_MAX   ? INT32_MAX
                                     : value < INT32_MIN ? INT32_MIN
                                                         : int32_t(value)));
        });
        return;
    }
    const auto a = gathered<double>(ex, op.a, number);
    const auto b = gathered<double>(ex, op.b, number);
    auto c = gathered<double>(ex, op.c, number);
    if (op.d.element == Element::kF64) {
        const int before = std::fegetround();
        std::fesetround(op.rounding);
        c = product(s, matrices, a, b, std::move(c), [](double z, double x, double y) {
            return fused(x, y, z);
        });
        std::fesetround(before);
    } else {
        c = product(s, matrices, a, b, std::move(c), [](double z, double x, double y) {
            return z + x * y;
        });
    }
    spread(ex, op.d, [&](unsigned at) {
        double value = c[at];
        if (op.saturate)  // .satfinite of f16: the largest number instead of infinity, 0 instead of
                          // NaN
            value = value != value ? 0 : std::fmin(std::fmax(value, -65504.0), 65504.0);
        return encoded(op.d.element, value);
    });
}

uint32_t matrix_products(const WarpOp& op) {
    if (op.together != matrix_multiply) return 0;
    const MatrixShape& s = op.matrix->shape;
    return s.m * s.n * s.k * op.matrix->c.copies;
}

// PTX ISA "movmatrix": an 8x8 matrix of 16-bit elements, transposed across the warp.
void matrix_movmatrix(LaunchState& ex, const MatrixOp& op) {
    uint16_t whole[8][8];
    const uint32_t* const s = ex.row<uint32_t>(op.a.register_rows[0]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        whole[lane / 4][lane % 4 * 2] = uint16_t(s[lane]);
        whole[lane / 4][lane % 4 * 2 + 1] = uint16_t(s[lane] >> 16);
    }
    uint32_t* const d = ex.row<uint32_t>(op.d.register_rows[0]);
    for_lanes(ex.mask, [&](uint32_t lane) {
        d[lane] = whole[lane % 4 * 2][lane / 4] | uint32_t(whole[lane % 4 * 2 + 1][lane / 4]) << 16;
    });
}

}  // namespace machine
