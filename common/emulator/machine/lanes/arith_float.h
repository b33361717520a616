// SPDX-License-Identifier: MIT
// Floating-point operations on one lane, shared by arith_float.cpp (rounding to nearest) and
// arith_rounded.cpp (directed rounding, compiled with -frounding-math).
//
// NaN: f32 results are the canonical 0x7fffffff, as PTX ISA "Floating Point Instructions" says. f64
// results are those of an H200 (tests/hardware): the second operand if it is a NaN, else the third,
// else the first, quieted; 0xfff8000000000000 if no operand is a NaN.
#pragma once

#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
// Unnamed on purpose: the two files must not share an instance of a template.
namespace {

[[gnu::always_inline]] inline float canonical(float x) {
    return x == x ? x : bits_as<float>(kCanonicalNan32);
}
[[gnu::always_inline]] inline double canonical(double x) {
    return x;
}

// A NaN that does not signal, with its sign and payload.
[[gnu::always_inline]] inline double quieted(double x) {
    return bits_as<double>(bits_as<uint64_t>(x) | uint64_t(1) << 51);
}
// `result` of an operation, unless f64's `operand` is a NaN. x86 prefers the first operand.
[[gnu::always_inline]] inline double prefer_nan(double result, double operand) {
    return operand == operand ? result : quieted(operand);
}
[[gnu::always_inline]] inline float prefer_nan(float result, float) {
    return result;
}

// Subnormals become zeros of the same sign.
[[gnu::always_inline]] inline float flushed(float x) {
    const uint32_t bits = bits_as<uint32_t>(x);
    return bits_as<float>((bits & 0x7f800000) ? bits : bits & 0x80000000);
}
// [0, 1]; NaN and -0 become +0.
template <class T>
[[gnu::always_inline]] inline T saturated(T x) {
    const T positive = x > T(0) ? x : T(0);
    return positive < T(1) ? positive : T(1);
}

// .ftz and .sat of an instruction, for f32; f64 has neither.
template <class T, bool ftz, bool sat>
struct Style {
    static constexpr bool kFlush = ftz;
    [[gnu::always_inline]] static T in(T x) {
        if constexpr (ftz) return flushed(x);
        return x;
    }
    [[gnu::always_inline]] static T out(T x) {
        if constexpr (ftz) x = flushed(x);
        if constexpr (sat) return saturated(x);
        return canonical(x);
    }
};

// With .ftz a result also becomes zero if it equals the smallest normal number only because
// subnormal numbers have fewer bits: rounded to 24 bits it would be less. `exact`: the result in
// f64.
[[gnu::always_inline]] inline float flushed_early(float result, double exact) {
    const bool tiny = __builtin_fabsf(float(exact * 0x1p60)) < 0x1p-66f;
    return tiny ? result * 0.0f : result;
}

[[gnu::always_inline]] inline float fused(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
[[gnu::always_inline]] inline double fused(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
[[gnu::always_inline]] inline float root(float x) {
    return __builtin_sqrtf(x);
}
[[gnu::always_inline]] inline double root(double x) {
    return __builtin_sqrt(x);
}

// If at most one operand is a NaN, x86-64 already returns the required NaN: that operand, or a
// negative default NaN. arm64's default NaN is positive. `result` of an operation whose only NaN,
// if any, is `operand`.
[[gnu::always_inline]] inline float single_nan(float result, float) {
    return result;
}
[[gnu::always_inline]] inline double single_nan(double result, [[maybe_unused]] double operand) {
#if !defined(__x86_64__)
    if (result != result)
        return operand == operand ? bits_as<double>(kInvalidNan64) : quieted(operand);
#endif
    return result;
}

template <class T, class S>
struct AddFloat {
    static T apply(T a, T b) { return S::out(prefer_nan(single_nan(S::in(a) + S::in(b), a), b)); }
};
template <class T, class S>
struct SubFloat {
    static T apply(T a, T b) { return S::out(prefer_nan(single_nan(S::in(a)-S::in(b), a), b)); }
};
template <class T, class S>
struct MulFloat {
    static T apply(T a, T b) {
        const T x = S::in(a), y = S::in(b), result = x * y;
        if constexpr (S::kFlush) return S::out(flushed_early(result, double(x) * y));
        return S::out(prefer_nan(single_nan(result, a), b));
    }
};
template <class T, class S>
struct FmaFloat {
#if !defined(__FMA__) && defined(__x86_64__)
    static constexpr bool kPerLane = true;  // a library call
#endif
    static T apply(T a, T b, T c) {
        const T x = S::in(a), y = S::in(b), z = S::in(c), result = fused(x, y, z);
        if constexpr (S::kFlush) return S::out(flushed_early(result, double(x) * y + z));
        return S::out(prefer_nan(prefer_nan(single_nan(result, a), c), b));
    }
};
template <class T, class S>
struct DivFloat {
    static T apply(T a, T b) {
        const T x = S::in(a), y = S::in(b), result = x / y;
        if constexpr (S::kFlush) {
            return S::out(flushed_early(result, double(x) / y));
        }
        // The first operand's NaN takes precedence over the second's, as on x86-64.
        return S::out(single_nan(result, x == x ? y : x));
    }
};
template <class T, class S>
struct SqrtFloat {
    static T apply(T a) { return S::out(single_nan(root(S::in(a)), a)); }
};
template <class T, class S>
struct RcpFloat {
    static T apply(T a) { return DivFloat<T, S>::apply(T(1), a); }
};

// Op for f32 with or without .ftz and .sat, or f64.
template <template <class, class> class Op, class Binder>
[[gnu::always_inline]] inline bool choose_style(const Form& form, Binder&& binder) {
    const bool ftz = form.has(Mod::k_ftz), sat = form.has(Mod::k_sat);
    if (form.type() == Type::kF64)
        return !ftz && !sat && binder((Op<double, Style<double, false, false>>*)nullptr);
    if (form.type() != Type::kF32) return false;
    if (ftz)
        return sat ? binder((Op<float, Style<float, true, true>>*)nullptr)
                   : binder((Op<float, Style<float, true, false>>*)nullptr);
    return sat ? binder((Op<float, Style<float, false, true>>*)nullptr)
               : binder((Op<float, Style<float, false, false>>*)nullptr);
}
// The same for operations that have no .sat.
template <template <class, class> class Op, class Binder>
[[gnu::always_inline]] inline bool choose_plain(const Form& form, Binder&& binder) {
    const bool ftz = form.has(Mod::k_ftz);
    if (form.has(Mod::k_sat)) return false;
    if (form.type() == Type::kF64)
        return !ftz && binder((Op<double, Style<double, false, false>>*)nullptr);
    if (form.type() != Type::kF32) return false;
    return ftz ? binder((Op<float, Style<float, true, false>>*)nullptr)
               : binder((Op<float, Style<float, false, false>>*)nullptr);
}

}  // namespace
}  // namespace machine::LEVEL_NS
