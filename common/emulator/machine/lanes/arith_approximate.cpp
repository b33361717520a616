// SPDX-License-Identifier: MIT
// PTX ISA "Floating Point Instructions", the .approx ones for f32 and f64: rcp, sqrt, rsqrt, div,
// sin, cos, ex2, lg2, tanh. Within PTX's error bounds; a GPU's last bits may differ, except where
// PTX specifies the exact loss: division by huge numbers, and the f64 forms that only use the upper
// 32 bits.
#include "machine/lanes/arith_float.h"
#include "machine/lanes/arith_functions.h"

namespace machine::LEVEL_NS {
namespace {

template <class T, class S>
struct Rsqrt {
    // In double, so that the rounding of the square root has no effect.
    static T apply(T a) { return S::out(single_nan(T(1.0 / root(double(S::in(a)))), a)); }
};

// a * (1 / b) on hardware: for |b| > 2^126 the reciprocal is subnormal and counts as zero.
template <class T, class S>
struct DivApproximate {
    static T apply(T a, T b) {
        const T x = S::in(a), y = S::in(b);
        const uint32_t magnitude = bits_as<uint32_t>(y) & 0x7fffffff;
        const bool huge = magnitude > 0x7e800000 && magnitude < 0x7f800000;
        const T zero = bits_as<T>(bits_as<uint32_t>(y) & 0x80000000);
        return S::out(huge ? x * zero : x / y);
    }
};

// The argument in turns, as an f32: hardware multiplies by 1/(2 pi) first, and that rounding is why
// sin.approx is only accurate for small arguments.
[[gnu::always_inline]] inline double turns(float a) {
    return double(a * 0.159154943f);
}

template <class T, class S>
struct Sin {
    static T apply(T a) { return S::out(T(circle<false>(turns(S::in(a))))); }
};
template <class T, class S>
struct Cos {
    static T apply(T a) { return S::out(T(circle<true>(turns(S::in(a))))); }
};
template <class T, class S>
struct Ex2 {
    static T apply(T a) { return S::out(T(exp2_of(double(S::in(a))))); }
};
template <class T, class S>
struct Lg2 {
    static T apply(T a) { return S::out(T(log2_of(double(S::in(a))))); }
};
struct Tanh {
    static float apply(float a) { return canonical(float(tanh_of(double(a)))); }
};

// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: the upper 32 bits of the operand in, of the result out.
template <bool square_root>
struct Upper64 {
    static double apply(double a) {
        constexpr uint64_t kSign = uint64_t(1) << 63, kUpper = 0xffffffff00000000;
        uint64_t bits = bits_as<uint64_t>(a) & kUpper;
        bits = bits >> 52 & 0x7ff ? bits : bits & kSign;
        const double x = bits_as<double>(bits);
        const double y = 1.0 / (square_root ? root(x) : x);
        uint64_t result = bits_as<uint64_t>(y) & kUpper;
        result = result >> 52 & 0x7ff ? result : result & kSign;
        return bits_as<double>(y == y ? result : 0x7fffffff00000000);
    }
};

template <template <class, class> class Op>
bool bind_f32(const Form& form, Selected& out) {
    if (form.type() != Type::kF32) return false;
    const auto binder = [&]<class X>(X*) __attribute__((always_inline)) {
        return bind<X>(out);
    };
    return form.has(Mod::k_ftz) ? binder((Op<float, Style<float, true, false>>*)nullptr)
                                : binder((Op<float, Style<float, false, false>>*)nullptr);
}

}  // namespace

bool select_approximate(const Form& form, Selected& out) {
    if (form.type_count != 1 || !form.has(Mod::k_approx)) return false;
    if (!form.only<Mod::k_approx, Mod::k_ftz>()) return false;
    const bool ftz = form.has(Mod::k_ftz);
    if (form.type() == Type::kF64) {
        if (form.opcode == Opcode::k_rcp) return ftz && bind<Upper64<false>>(out);
        if (form.opcode != Opcode::k_rsqrt) return false;
        return ftz ? bind<Upper64<true>>(out)
                   : bind<Rsqrt<double, Style<double, false, false>>>(out);
    }
    switch (form.opcode) {
    case Opcode::k_rcp:
        return bind_f32<RcpFloat>(form, out);
    case Opcode::k_sqrt:
        return bind_f32<SqrtFloat>(form, out);
    case Opcode::k_rsqrt:
        return bind_f32<Rsqrt>(form, out);
    case Opcode::k_div:
        return bind_f32<DivApproximate>(form, out);
    case Opcode::k_sin:
        return bind_f32<Sin>(form, out);
    case Opcode::k_cos:
        return bind_f32<Cos>(form, out);
    case Opcode::k_ex2:
        return bind_f32<Ex2>(form, out);
    case Opcode::k_lg2:
        return bind_f32<Lg2>(form, out);
    case Opcode::k_tanh:
        return form.type() == Type::kF32 && !ftz && bind<Tanh>(out);
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
