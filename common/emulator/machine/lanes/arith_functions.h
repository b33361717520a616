// SPDX-License-Identifier: MIT
// 2^x, log2 x, sin, cos and tanh without branches, in double precision: errors are around 1e-10, so
// rounding to f32 gives the nearest number or its neighbour. Unlike the C library's, they
// vectorise. They use no fused operations: results must not depend on the processor.
#pragma once

#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
namespace {

constexpr double kLn2 = 0.693147180559945309417232;
constexpr double kTwoPi = 6.28318530717958647692529;
constexpr double kRoundingShift = 0x1.8p52;  // adding it moves the nearest integer to the low bits

template <unsigned n>
[[gnu::always_inline]] inline double polynomial(const double (&coefficients)[n], double x) {
    double sum = coefficients[n - 1];
    for (unsigned k = n - 1; k-- > 0;) sum = sum * x + coefficients[k];
    return sum;
}

// 2^x for any x; results outside of f32's range become 0 and infinity when rounded to f32.
[[gnu::always_inline]] inline double exp2_of(double x) {
    constexpr double kTaylor[] = {
        1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320};
    x = x < -400.0 ? -400.0 : x;
    x = x > 400.0 ? 400.0 : x;
    const double shifted = x + kRoundingShift;
    const double whole = shifted - kRoundingShift;
    const double fraction = polynomial(kTaylor, (x - whole) * kLn2);
    const uint64_t exponent = bits_as<uint64_t>(shifted) - bits_as<uint64_t>(kRoundingShift) + 1023;
    return fraction * bits_as<double>(exponent << 52);
}

// log2 x; x < 0 gives NaN, 0 gives -infinity. x is an f32 number, so never subnormal here.
[[gnu::always_inline]] inline double log2_of(double x) {
    constexpr double kSeries[] = {1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11};
    constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;  // sqrt(1/2): mantissas start here
    const uint64_t bits = bits_as<uint64_t>(x);
    const uint64_t offset = bits - kRootHalf;
    const uint64_t exponent = (offset >> 52) ^ 0x800;  // biased by 2048, so that it is positive
    const double m = bits_as<double>((offset & 0x000fffffffffffff) + kRootHalf);
    const double e = bits_as<double>(0x4330000000000000 | (exponent & 0xfff)) - (0x1p52 + 2048);
    const double s = (m - 1) / (m + 1);
    const double series = polynomial(kSeries, s * s) * s * (2 / kLn2);
    double result = e + series;
    result = x == __builtin_inf() ? x : result;
    result = x == 0 ? -__builtin_inf() : result;
    return x >= 0 ? result : __builtin_nan("");
}

// sin(2 pi turns) and cos(2 pi turns).
template <bool cosine>
[[gnu::always_inline]] inline double circle(double turns) {
    constexpr double kSin[] = {
        1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800};
    constexpr double kCos[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800};
    // The nearest quarter turn and the remainder, both exact. The rounding requires |turns| < 2^51;
    // f32 numbers from 2^23 on are whole turns.
    const bool whole = !(__builtin_fabs(turns) < 0x1p24);
    const double t = whole ? turns - turns : turns;  // infinity and NaN become NaN
    const double shifted = t * 4 + kRoundingShift;
    const double quarter = shifted - kRoundingShift;
    const double rest = quarter == 0 ? t : t - quarter * 0.25;  // keeps the sign of -0
    const uint64_t quadrant = bits_as<uint64_t>(shifted) + cosine;
    const double y = rest * kTwoPi;
    const double sine = y * polynomial(kSin, y * y), cos = polynomial(kCos, y * y);
    const uint64_t bits = quadrant & 1 ? bits_as<uint64_t>(cos) : bits_as<uint64_t>(sine);
    return bits_as<double>(bits ^ (quadrant & 2) << 62);
}

// (1 - e) / (1 + e) with e = 2^(-2|x| log2(e)); near 0, where 1 - e cancels, the power series.
[[gnu::always_inline]] inline double tanh_of(double x) {
    const double magnitude = __builtin_fabs(x);
    const double e = exp2_of(magnitude * (-2 / kLn2));
    const double series = magnitude - magnitude * magnitude * magnitude * (1.0 / 3);
    const double result = magnitude < 0x1p-10 ? series : (1 - e) / (1 + e);
    return __builtin_copysign(result, x);
}

}  // namespace
}  // namespace machine::LEVEL_NS
