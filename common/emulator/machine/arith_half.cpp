// SPDX-License-Identifier: MIT
// PTX ISA "Half Precision Floating Point Instructions": add, sub, mul, fma, neg, abs, min, max, ex2,
// tanh for f16, f16x2, bf16 and bf16x2. NaN results are the canonical 0x7fff.
//
// Work is done in f32. Sum, difference and product of two 11-bit numbers, rounded to f32's 24 bits
// and then to 11, are as if rounded once; fma keeps a sticky last bit instead.
#include "machine/arith_float.h"
#include "machine/arith_functions.h"

namespace machine::ARITH_NS {
namespace {

// An element is the low half of a word, whose upper half is ignored: vectors of 32-bit words need no
// conversions. H says which format it is.
template <class H> [[gnu::always_inline]] inline float widened(uint32_t x) {
    return std::is_same_v<H, Half> ? half_to_float(x) : bf16_to_float(x);
}
template <class H> [[gnu::always_inline]] inline uint32_t narrowed(float x) {
    return std::is_same_v<H, Half> ? float_to_half(x) : float_to_bf16(x);
}

// Subnormals of the 16-bit format become zero with their sign.
template <class H, bool ftz> [[gnu::always_inline]] inline uint32_t flushed16(uint32_t x) {
    constexpr uint32_t kExponent = std::is_same_v<H, Half> ? 0x7c00 : 0x7f80;
    if constexpr (ftz) return x & kExponent ? x : x & 0x8000;
    return x;
}
enum Clamp { kNone, kSat, kRelu };
template <class H, bool ftz, Clamp clamp> struct Style16 {
    [[gnu::always_inline]] static float in(uint32_t x) { return widened<H>(flushed16<H, ftz>(x)); }
    [[gnu::always_inline]] static uint32_t out(float x) {
        if constexpr (clamp == kSat) x = saturated(x);
        if constexpr (clamp == kRelu) x = x <= 0.0f ? 0.0f : x;  // NaN stays
        return flushed16<H, ftz>(narrowed<H>(x));
    }
};

// x + y with the last bit set when the sum is not exact ("round to odd"): rounding that once more to
// a format with at least two bits less gives what rounding the exact sum gives.
template <class T> [[gnu::always_inline]] inline T odd_sum(T x, T y) {
    const T sum = x + y;
    const T y_part = sum - x;
    const T error = (x - (sum - y_part)) + (y - y_part);  // exactly what was rounded away
    const Bits<T> bits = bits_as<Bits<T>>(sum);
    const bool inexact = error < 0 || error > 0;  // false for infinities, whose error is NaN
    const bool too_large = (error < 0) == (sum > 0);
    const Bits<T> cut = Bits<T>(bits - (too_large ? 1 : 0)) | 1;
    return bits_as<T>(inexact ? cut : bits);
}
// The same for narrowing.
[[gnu::always_inline]] inline float odd_float(double x) {
    const float nearest = float(x);
    const uint32_t bits = bits_as<uint32_t>(nearest);
    const double back = nearest;
    const bool inexact = back < x || back > x;
    const bool too_large = __builtin_fabs(back) > __builtin_fabs(x);
    return bits_as<float>(inexact ? (bits - (too_large ? 1 : 0)) | 1 : bits);
}
template <class H> [[gnu::always_inline]] inline float fused16(float a, float b, float c) {
    // Of two half numbers the product is exact in f32; of two bf16 its exponent may not fit.
    if constexpr (std::is_same_v<H, Half>) return odd_sum(a * b, c);
    else return odd_float(odd_sum(double(a) * double(b), double(c)));
}

// Operations on elements: the result is in the low half, the upper half is zero.
template <class H, class S> struct Add16 {
    static uint32_t on(uint32_t a, uint32_t b) { return S::out(S::in(a) + S::in(b)); }
};
template <class H, class S> struct Sub16 {
    static uint32_t on(uint32_t a, uint32_t b) { return S::out(S::in(a) - S::in(b)); }
};
template <class H, class S> struct Mul16 {
    static uint32_t on(uint32_t a, uint32_t b) { return S::out(S::in(a) * S::in(b)); }
};
template <class H, class S> struct Fma16 {
    static uint32_t on(uint32_t a, uint32_t b, uint32_t c) {
        return S::out(fused16<H>(S::in(a), S::in(b), S::in(c)));
    }
};
template <class H, class S> struct Ex216 {
    static uint32_t on(uint32_t a) { return S::out(float(exp2_of(double(S::in(a))))); }
};
template <class H, class S> struct Tanh16 {
    static uint32_t on(uint32_t a) { return S::out(float(tanh_of(double(S::in(a))))); }
};
template <class H, bool ftz> struct Neg16 {
    static uint32_t on(uint32_t a) { return (flushed16<H, ftz>(a) ^ 0x8000) & 0xffff; }
};
template <class H, bool ftz> struct Abs16 {
    static uint32_t on(uint32_t a) { return flushed16<H, ftz>(a) & 0x7fff; }
};

// Compared as integers that order like the numbers: -0 before +0, NaNs outside.
template <class H, bool max, bool nan, bool xorsign, bool ftz> struct Extreme16 {
    static uint32_t on(uint32_t x, uint32_t y) {
        constexpr int32_t kInfinity = std::is_same_v<H, Half> ? 0x7c00 : 0x7f80;
        int32_t a = int32_t(flushed16<H, ftz>(x) & 0xffff);
        int32_t b = int32_t(flushed16<H, ftz>(y) & 0xffff);
        const bool a_nan = (a & 0x7fff) > kInfinity, b_nan = (b & 0x7fff) > kInfinity;
        const int32_t sign = (a ^ b) & 0x8000;
        if (xorsign) a &= 0x7fff, b &= 0x7fff;
        const int32_t a_key = a & 0x8000 ? 0x7fff - a : a, b_key = b & 0x8000 ? 0x7fff - b : b;
        int32_t result = (max ? a_key > b_key : a_key < b_key) ? a : b;
        result = a_nan ? b : b_nan ? a : result;
        if (xorsign) result |= sign;
        const bool bad = nan ? a_nan || b_nan : a_nan && b_nan;
        return uint32_t(bad ? int32_t(kCanonicalNan16) : result);
    }
};

// On rows of 16-bit elements (H fixes the row's type, not the arithmetic), and on both halves of words.
template <class Op, class F> struct OnRows;
template <class Op, class... S> struct OnRows<Op, uint32_t (*)(S...)> {
    static uint16_t apply(std::conditional_t<true, uint16_t, S>... elements) {
        return uint16_t(Op::on(uint32_t(elements)...));
    }
};
template <class Op, class F> struct OnHalves;
template <class Op, class... S> struct OnHalves<Op, uint32_t (*)(S...)> {
    static uint32_t apply(S... words) { return Op::on(words...) | Op::on((words >> 16)...) << 16; }
};

template <class Op> bool bind_either(bool packed, Selected& out) {
    const bool known = packed ? bind<OnHalves<Op, decltype(&Op::on)>>(out)
                              : bind<OnRows<Op, decltype(&Op::on)>>(out);
    // Immediates are bit patterns.
    const Type type = packed ? Type::kB32 : Type::kB16;
    out.dst = type;
    for (unsigned k = 0; k < out.sources; ++k) out.src[k] = type;
    return known;
}

template <class H, template <class, class> class Op>
bool bind_style(const Form& form, bool packed, Selected& out) {
    const bool ftz = form.has(Mod::k_ftz), relu = form.has(Mod::k_relu);
    if (form.has(Mod::k_sat)) {
        if (relu) return false;
        return ftz ? bind_either<Op<H, Style16<H, true, kSat>>>(packed, out)
                   : bind_either<Op<H, Style16<H, false, kSat>>>(packed, out);
    }
    if (relu) {
        return ftz ? bind_either<Op<H, Style16<H, true, kRelu>>>(packed, out)
                   : bind_either<Op<H, Style16<H, false, kRelu>>>(packed, out);
    }
    return ftz ? bind_either<Op<H, Style16<H, true, kNone>>>(packed, out)
               : bind_either<Op<H, Style16<H, false, kNone>>>(packed, out);
}
template <class H, template <class, class> class Op>
bool bind_approximate16(const Form& form, bool packed, Selected& out) {
    return form.has(Mod::k_ftz) ? bind_either<Op<H, Style16<H, true, kNone>>>(packed, out)
                                : bind_either<Op<H, Style16<H, false, kNone>>>(packed, out);
}
template <class H, template <class, bool> class Op>
bool bind_flush(const Form& form, bool packed, Selected& out) {
    return form.has(Mod::k_ftz) ? bind_either<Op<H, true>>(packed, out)
                                : bind_either<Op<H, false>>(packed, out);
}
template <class H, bool max, bool nan, bool xorsign>
bool bind_extreme2(const Form& form, bool packed, Selected& out) {
    return form.has(Mod::k_ftz) ? bind_either<Extreme16<H, max, nan, xorsign, true>>(packed, out)
                                : bind_either<Extreme16<H, max, nan, xorsign, false>>(packed, out);
}
template <class H, bool max> bool bind_extreme(const Form& form, bool packed, Selected& out) {
    const bool nan = form.has(Mod::k_NaN);
    if (form.has(Mod::k_xorsign) != form.has(Mod::k_abs)) return false;
    if (form.has(Mod::k_xorsign))
        return nan ? bind_extreme2<H, max, true, true>(form, packed, out)
                   : bind_extreme2<H, max, false, true>(form, packed, out);
    return nan ? bind_extreme2<H, max, true, false>(form, packed, out)
               : bind_extreme2<H, max, false, false>(form, packed, out);
}

template <class H> bool bind_half(const Form& form, bool packed, Selected& out) {
    switch (form.opcode) {
    case Opcode::k_min: case Opcode::k_max:
        if (!form.only<Mod::k_ftz, Mod::k_NaN, Mod::k_xorsign, Mod::k_abs>()) return false;
        return form.opcode == Opcode::k_max ? bind_extreme<H, true>(form, packed, out)
                                            : bind_extreme<H, false>(form, packed, out);
    case Opcode::k_neg: return form.only<Mod::k_ftz>() && bind_flush<H, Neg16>(form, packed, out);
    case Opcode::k_abs: return form.only<Mod::k_ftz>() && bind_flush<H, Abs16>(form, packed, out);
    case Opcode::k_ex2:
        return form.only<Mod::k_approx, Mod::k_ftz>() &&
               bind_approximate16<H, Ex216>(form, packed, out);
    case Opcode::k_tanh:
        return form.only<Mod::k_approx>() && bind_approximate16<H, Tanh16>(form, packed, out);
    default: break;
    }
    if (!form.only<Mod::k_rn, Mod::k_ftz, Mod::k_sat, Mod::k_relu>()) return false;
    if (form.opcode == Opcode::k_fma) return bind_style<H, Fma16>(form, packed, out);
    if (form.has(Mod::k_relu)) return false;
    switch (form.opcode) {
    case Opcode::k_add: return bind_style<H, Add16>(form, packed, out);
    case Opcode::k_sub: return bind_style<H, Sub16>(form, packed, out);
    case Opcode::k_mul: return bind_style<H, Mul16>(form, packed, out);
    default: return false;
    }
}

}  // namespace

bool select_half(const Form& form, Selected& out) {
    if (form.type_count != 1) return false;
    switch (form.type()) {
    case Type::kF16: return bind_half<Half>(form, false, out);
    case Type::kF16x2: return bind_half<Half>(form, true, out);
    case Type::kBf16: return bind_half<Bf16>(form, false, out);
    case Type::kBf16x2: return bind_half<Bf16>(form, true, out);
    default: return false;
    }
}

}  // namespace machine::ARITH_NS
