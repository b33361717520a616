// SPDX-License-Identifier: MIT
// PTX ISA "Half Precision Floating Point Instructions": add, sub, mul, fma, neg, abs, min, max,
// ex2, tanh for f16, f16x2, bf16 and bf16x2. NaN results are the canonical 0x7fff.
//
// Computed in f32. Sum, difference and product of two 11-bit numbers, rounded to f32's 24 bits and
// then to 11, equal a single rounding; fma keeps a sticky last bit instead.
#include "machine/lanes/arith_float.h"
#include "machine/lanes/arith_functions.h"

namespace machine::LEVEL_NS {
namespace {

// An element is the low half of a word, whose upper half is ignored: vectors of 32-bit words need
// no conversions. H is the format.
template <class H>
[[gnu::always_inline]] inline float widened(uint32_t x) {
    return std::is_same_v<H, Half> ? half_to_float(x) : bf16_to_float(x);
}
template <class H>
[[gnu::always_inline]] inline uint32_t narrowed(float x) {
    return std::is_same_v<H, Half> ? float_to_half(x) : float_to_bf16(x);
}

// Modifiers are evaluated at run time, as masks and bounds without effect when absent: that is
// cheap compared to the conversions, and a handler for each combination would take long to compile.
enum Flags { kFlush = 1, kSat = 2, kRelu = 4, kNan = 8, kXorSign = 16 };
template <class H>
struct Style16 {
    static constexpr uint32_t kExponent = std::is_same_v<H, Half> ? 0x7c00 : 0x7f80;
    uint32_t keep;  // the part of a subnormal that is kept: its sign, or all of it
    float low, high;
    uint32_t nan;
    [[gnu::always_inline]] explicit Style16(Extra flags)
        : keep(uint16_t(flags) & kFlush ? 0x8000 : 0xffff),
          low(uint16_t(flags) & (kSat | kRelu) ? 0.0f : -__builtin_inff()),
          high(uint16_t(flags) & kSat ? 1.0f : __builtin_inff()),
          nan(uint16_t(flags) & kSat ? 0 : kCanonicalNan16) {}
    [[gnu::always_inline]] uint32_t flushed16(uint32_t x) const {
        return x & kExponent ? x : x & keep;
    }
    [[gnu::always_inline]] float in(uint32_t x) const { return widened<H>(flushed16(x)); }
    [[gnu::always_inline]] uint32_t out(float x) const {
        float y = x <= low ? low : x;  // -0 becomes +0
        y = y >= high ? high : y;
        // A result that equals the smallest normal number only because subnormal numbers have fewer
        // bits is flushed: rounded to 11 bits it would be less.
        constexpr float kTiny = 0x1p-14f - 0x1p-26f;
        if constexpr (std::is_same_v<H, Half>)
            y = keep == 0x8000 && y < kTiny && y > -kTiny ? y * 0.0f : y;
        const uint32_t result = flushed16(narrowed<H>(y));
        return x == x ? result : nan;
    }
};

// x + y with the last bit set if the sum is not exact ("round to odd"): rounding that once more to
// a format with at least two bits less equals rounding the exact sum.
template <class T>
[[gnu::always_inline]] inline T odd_sum(T x, T y) {
    const T sum = x + y;
    const T y_part = sum - x;
    const T error = (x - (sum - y_part)) + (y - y_part);  // exactly the part that was rounded away
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
template <class H>
[[gnu::always_inline]] inline float fused16(float a, float b, float c) {
    // The product of two half numbers is exact in f32; the exponent of a bf16 product may not fit.
    if constexpr (std::is_same_v<H, Half>)
        return odd_sum(a * b, c);
    else
        return odd_float(odd_sum(double(a) * double(b), double(c)));
}

// Operations on elements: the result is in the low half, the upper half is zero.
template <class H>
struct Add16 {
    static uint32_t on(const Style16<H>& s, uint32_t a, uint32_t b) {
        return s.out(s.in(a) + s.in(b));
    }
};
template <class H>
struct Sub16 {
    static uint32_t on(const Style16<H>& s, uint32_t a, uint32_t b) {
        return s.out(s.in(a)-s.in(b));
    }
};
template <class H>
struct Mul16 {
    static uint32_t on(const Style16<H>& s, uint32_t a, uint32_t b) {
        return s.out(s.in(a)*s.in(b));
    }
};
template <class H>
struct Fma16 {
    static uint32_t on(const Style16<H>& s, uint32_t a, uint32_t b, uint32_t c) {
        return s.out(fused16<H>(s.in(a), s.in(b), s.in(c)));
    }
};
template <class H>
struct Ex216 {
    static uint32_t on(const Style16<H>& s, uint32_t a) {
        return s.out(float(exp2_of(double(s.in(a)))));
    }
};
template <class H>
struct Tanh16 {
    static uint32_t on(const Style16<H>& s, uint32_t a) {
        return s.out(float(tanh_of(double(s.in(a)))));
    }
};
// neg and abs of a NaN, which PTX leaves open, are canonical as on an H200.
template <class H>
[[gnu::always_inline]] inline uint32_t settled16(uint32_t operand, uint32_t result) {
    return (operand & 0x7fff) > Style16<H>::kExponent ? kCanonicalNan16 : result;
}
template <class H>
struct Neg16 {
    static uint32_t on(const Style16<H>& s, uint32_t a) {
        return settled16<H>(a, (s.flushed16(a) ^ 0x8000) & 0xffff);
    }
};
template <class H>
struct Abs16 {
    static uint32_t on(const Style16<H>& s, uint32_t a) {
        return settled16<H>(a, s.flushed16(a) & 0x7fff);
    }
};
// Compared as integers with the order of the numbers: -0 before +0, NaNs outside.
template <bool max>
struct Extreme16 {
    template <class H>
    struct Op {
        static uint32_t on(const Style16<H>& s, Extra extra, uint32_t x, uint32_t y) {
            const bool xorsign = uint16_t(extra) & kXorSign, strict = uint16_t(extra) & kNan;
            constexpr int32_t kInfinity = Style16<H>::kExponent;
            int32_t a = int32_t(s.flushed16(x) & 0xffff), b = int32_t(s.flushed16(y) & 0xffff);
            const bool a_nan = (a & 0x7fff) > kInfinity, b_nan = (b & 0x7fff) > kInfinity;
            const int32_t sign = xorsign ? (a ^ b) & 0x8000 : 0;
            const int32_t magnitude = xorsign ? 0x7fff : 0xffff;
            a &= magnitude;
            b &= magnitude;
            const int32_t a_key = a & 0x8000 ? 0x7fff - a : a, b_key = b & 0x8000 ? 0x7fff - b : b;
            int32_t result = (max ? a_key > b_key : a_key < b_key) ? a : b;
            result = b_nan ? a : result;
            result = a_nan ? b : result;
            result |= sign;
            const bool bad = (a_nan & b_nan) | (strict & (a_nan | b_nan));
            return uint32_t(bad ? int32_t(kCanonicalNan16) : result);
        }
    };
};

// For rows of 16-bit elements, and for both halves of words.
template <class H, class Op, class F>
struct OnRows;
template <class H, class Op, class... S>
struct OnRows<H, Op, uint32_t (*)(const Style16<H>&, S...)> {
    static uint16_t apply(Extra flags, std::conditional_t<true, uint16_t, S>... elements) {
        return uint16_t(Op::on(Style16<H>(flags), uint32_t(elements)...));
    }
};
template <class H, class Op, class... S>
struct OnRows<H, Op, uint32_t (*)(const Style16<H>&, Extra, S...)> {
    static uint16_t apply(Extra flags, std::conditional_t<true, uint16_t, S>... elements) {
        return uint16_t(Op::on(Style16<H>(flags), flags, uint32_t(elements)...));
    }
};
template <class H, class Op, class F>
struct OnHalves;
template <class H, class Op, class... S>
struct OnHalves<H, Op, uint32_t (*)(const Style16<H>&, S...)> {
    static uint32_t apply(Extra flags, S... words) {
        const Style16<H> style(flags);
        return Op::on(style, words...) | Op::on(style, (words >> 16)...) << 16;
    }
};
template <class H, class Op, class... S>
struct OnHalves<H, Op, uint32_t (*)(const Style16<H>&, Extra, S...)> {
    static uint32_t apply(Extra flags, S... words) {
        const Style16<H> style(flags);
        return Op::on(style, flags, words...) | Op::on(style, flags, (words >> 16)...) << 16;
    }
};

template <class H, class Op>
bool bind_either(bool packed, unsigned flags, Selected& out) {
    const bool known = packed ? bind<OnHalves<H, Op, decltype(&Op::on)>>(out, flags)
                              : bind<OnRows<H, Op, decltype(&Op::on)>>(out, flags);
    // Immediates are bit patterns.
    const Type type = packed ? Type::kB32 : Type::kB16;
    out.dst = type;
    for (unsigned k = 0; k < out.sources; ++k) out.src[k] = type;
    return known;
}

template <class H>
bool bind_half(const Form& form, bool packed, Selected& out) {
    const bool relu = form.has(Mod::k_relu), sat = form.has(Mod::k_sat);
    const unsigned flags = (form.has(Mod::k_ftz) ? kFlush : 0) | (sat ? kSat : 0) |
                           (relu ? kRelu : 0) | (form.has(Mod::k_NaN) ? kNan : 0) |
                           (form.has(Mod::k_xorsign) ? kXorSign : 0);
    switch (form.opcode) {
    case Opcode::k_min:
    case Opcode::k_max:
        if (!form.only<Mod::k_ftz, Mod::k_NaN, Mod::k_xorsign, Mod::k_abs>() ||
            form.has(Mod::k_xorsign) != form.has(Mod::k_abs))
            return false;
        return form.opcode == Opcode::k_max
                   ? bind_either<H, typename Extreme16<true>::template Op<H>>(packed, flags, out)
                   : bind_either<H, typename Extreme16<false>::template Op<H>>(packed, flags, out);
    case Opcode::k_neg:
        return form.only<Mod::k_ftz>() && bind_either<H, Neg16<H>>(packed, flags, out);
    case Opcode::k_abs:
        return form.only<Mod::k_ftz>() && bind_either<H, Abs16<H>>(packed, flags, out);
    case Opcode::k_ex2:  // .approx.f16, .approx.ftz.bf16, and no other
        return form.has(Mod::k_approx) && form.only<Mod::k_approx, Mod::k_ftz>() &&
               form.has(Mod::k_ftz) == std::is_same_v<H, Bf16> &&
               bind_either<H, Ex216<H>>(packed, flags, out);
    case Opcode::k_tanh:
        return form.has(Mod::k_approx) && form.only<Mod::k_approx>() &&
               bind_either<H, Tanh16<H>>(packed, flags, out);
    default:
        break;
    }
    if (!form.only<Mod::k_rn, Mod::k_ftz, Mod::k_sat, Mod::k_relu>() || (relu && sat)) return false;
    if (form.opcode == Opcode::k_fma) return bind_either<H, Fma16<H>>(packed, flags, out);
    if (relu) return false;
    switch (form.opcode) {
    case Opcode::k_add:
        return bind_either<H, Add16<H>>(packed, flags, out);
    case Opcode::k_sub:
        return bind_either<H, Sub16<H>>(packed, flags, out);
    case Opcode::k_mul:
        return bind_either<H, Mul16<H>>(packed, flags, out);
    default:
        return false;
    }
}

}  // namespace

bool select_half(const Form& form, Selected& out) {
    if (form.type_count != 1) return false;
    switch (form.type()) {
    case Type::kF16:
        return bind_half<Half>(form, false, out);
    case Type::kF16x2:
        return bind_half<Half>(form, true, out);
    case Type::kBf16:
        return bind_half<Bf16>(form, false, out);
    case Type::kBf16x2:
        return bind_half<Bf16>(form, true, out);
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
