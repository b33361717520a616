// SPDX-License-Identifier: MIT
// PTX ISA "Data Movement and Conversion Instructions: cvt": loops for the common pairs of types.
#include "machine/lanes/arith_convert.h"
#include "machine/lanes/arith_float.h"

namespace machine::LEVEL_NS {
namespace {

// D: the destination register, S: the source register, T: the type that the source is truncated to.
template <class D, class S, class T>
struct Extend {
    static D apply(S a) { return D(T(a)); }
};
// To 8 bits, extended to the 16-bit register again.
template <class T, class S>
struct ToByte {
    static uint16_t apply(S a) { return uint16_t(T(a)); }
};

template <class D>
bool bind_extend(Type type, unsigned from_bytes, Selected& out) {
    switch (type) {
    case Type::kU8:
        return from_bytes == 2   ? bind<Extend<D, uint16_t, uint8_t>>(out)
               : from_bytes == 4 ? bind<Extend<D, uint32_t, uint8_t>>(out)
                                 : false;
    case Type::kS8:
        return from_bytes == 2   ? bind<Extend<D, uint16_t, int8_t>>(out)
               : from_bytes == 4 ? bind<Extend<D, uint32_t, int8_t>>(out)
                                 : false;
    case Type::kU16:
        return from_bytes == 2 && bind<Extend<D, uint16_t, uint16_t>>(out);
    case Type::kS16:
        return from_bytes == 2 && bind<Extend<D, uint16_t, int16_t>>(out);
    case Type::kU32:
        return from_bytes == 4 && bind<Extend<D, uint32_t, uint32_t>>(out);
    case Type::kS32:
        return from_bytes == 4 && bind<Extend<D, uint32_t, int32_t>>(out);
    case Type::kU64:
    case Type::kS64:
        return bind<Extend<D, uint64_t, uint64_t>>(out);
    default:
        return false;
    }
}
template <class T>
bool bind_to_byte(unsigned from_bytes, Selected& out) {
    return from_bytes == 2   ? bind<ToByte<T, uint16_t>>(out)
           : from_bytes == 4 ? bind<ToByte<T, uint32_t>>(out)
                             : bind<ToByte<T, uint64_t>>(out);
}

// Exact if the value fits, else rounded to nearest by the processor.
template <class D, class S>
struct IntToFloat {
    static D apply(S a) { return D(a); }
};
// AVX2 has no conversions of unsigned or 64-bit integers: split into halves that are exact.
template <>
struct IntToFloat<double, uint32_t> {
    static double apply(uint32_t a) {
        return bits_as<double>(0x4330000000000000 | uint64_t(a)) - 0x1p52;
    }
};
template <>
struct IntToFloat<double, uint64_t> {
    static double apply(uint64_t a) {
        // Both halves are exact, so the sum is the only rounding.
        const double high = bits_as<double>(0x4530000000000000 | a >> 32) - 0x1p84;
        const double low = bits_as<double>(0x4330000000000000 | (a & 0xffffffff)) - 0x1p52;
        return high + low;
    }
};
template <>
struct IntToFloat<double, int64_t> {
    static double apply(int64_t a) {
        const uint64_t biased = uint64_t(a) ^ uint64_t(1) << 63;
        const double high = bits_as<double>(0x4530000000000000 | biased >> 32) - (0x1p84 + 0x1p63);
        const double low = bits_as<double>(0x4330000000000000 | (biased & 0xffffffff)) - 0x1p52;
        return high + low;
    }
};
template <>
struct IntToFloat<float, uint32_t> {
    static float apply(uint32_t a) { return float(IntToFloat<double, uint32_t>::apply(a)); }
};

template <class F, unsigned round>
[[gnu::always_inline]] inline F integral(F x) {
    if constexpr (sizeof(F) == 4) {
        if constexpr (round == kRni) return __builtin_nearbyintf(x);
        if constexpr (round == kRzi) return __builtin_truncf(x);
        if constexpr (round == kRmi) return __builtin_floorf(x);
        return __builtin_ceilf(x);
    } else {
        if constexpr (round == kRni) return __builtin_nearbyint(x);
        if constexpr (round == kRzi) return __builtin_trunc(x);
        if constexpr (round == kRmi) return __builtin_floor(x);
        return __builtin_ceil(x);
    }
}
// An integer-valued x with |x| < 2^63, or 0 <= x < 2^64, in 64 bits: again in halves, each moved to
// the low bits of a number with a fixed exponent.
[[gnu::always_inline]] inline uint64_t integer64(double x) {
    const double high = __builtin_floor(x * 0x1p-32), low = x - high * 0x1p32;
    const uint64_t upper = bits_as<uint64_t>(high + 0x1.8p52) << 32;
    return upper | (bits_as<uint64_t>(low + 0x1p52) & 0xffffffff);
}
template <class D, class F>
[[gnu::always_inline]] inline D clamped(F x) {
    constexpr F kTop = F(uint64_t(1) << 31) * (sizeof(D) == 8 ? F(0x1p32) : F(1));
    using S = std::make_signed_t<D>;
    using U = std::make_unsigned_t<D>;
    constexpr D kNan = sizeof(F) == 8 || sizeof(D) == 8 ? D(U(1) << (8 * sizeof(D) - 1)) : D(0);
    if constexpr (sizeof(D) == 8) {
        constexpr F kLow = std::is_signed_v<D> ? -kTop : F(0);
        constexpr F kHigh = std::is_signed_v<D> ? kTop : 2 * kTop;
        const F inside = x > kLow && x < kHigh ? x : F(0);
        uint64_t result = integer64(double(inside));
        result = x >= kHigh ? uint64_t(-1) >> std::is_signed_v<D> : result;
        result = x <= kLow ? (std::is_signed_v<D> ? uint64_t(1) << 63 : 0) : result;
        return D(x == x ? result : uint64_t(kNan));
    } else if constexpr (std::is_signed_v<D>) {
        const F inside = x > -kTop && x < kTop ? x : F(0);
        D result = D(inside);
        result = x >= kTop ? D(U(-1) >> 1) : result;
        result = x <= -kTop ? D(U(1) << (8 * sizeof(D) - 1)) : result;
        return x == x ? result : kNan;
    } else {
        const bool upper = x >= kTop;
        const F low = x > F(0) && x < kTop ? x : F(0);
        const F high = upper && x < 2 * kTop ? x - kTop : F(0);
        const U low_bits = U(S(low)), high_bits = U(S(high)) + (U(1) << (8 * sizeof(D) - 1));
        U result = upper ? high_bits : low_bits;
        result = x >= 2 * kTop ? U(-1) : result;
        return x == x ? result : kNan;
    }
}
template <unsigned round>
struct FloatToInt {
    template <class D, class F>
    struct Op {
        static D apply(F a) { return clamped<D>(integral<F, round>(a)); }
    };
};
template <template <class, class> class Op, class F>
bool bind_to_integer(Type to, Selected& out) {
    switch (to) {
    case Type::kS32:
        return bind<Op<int32_t, F>>(out);
    case Type::kU32:
        return bind<Op<uint32_t, F>>(out);
    case Type::kS64:
        return bind<Op<int64_t, F>>(out);
    case Type::kU64:
        return bind<Op<uint64_t, F>>(out);
    default:
        return false;
    }
}
template <bool ftz>
struct Narrow {
    // Keeps the upper bits of a NaN's payload, and quiets it.
    static float apply(double a) {
        const float narrow = float(a);
        if constexpr (ftz) return flushed(narrow);
        return narrow;
    }
};
template <bool ftz>
struct Widen {
    // With .ftz, a NaN becomes canonical before it is widened.
    static double apply(float a) {
        if constexpr (ftz) return double(canonical(flushed(a)));
        return double(a);
    }
};
template <class T, class S, unsigned round>
struct RoundFloat {
    static T apply(T a) { return S::out(integral<T, round>(S::in(a))); }
};
template <class T, class S>
struct CopyFloat {
    static T apply(T a) { return S::out(S::in(a)); }
};
struct FromHalf {
    static float apply(Half a) { return canonical(half_to_float(uint16_t(a))); }
};
struct FromBf16 {
    static float apply(Bf16 a) { return bf16_to_float(uint16_t(a)); }  // a NaN is not changed
};
struct ToHalf {
    static Half apply(float a) { return Half(float_to_half(a)); }
};
struct ToBf16 {
    static Bf16 apply(float a) { return Bf16(float_to_bf16(a)); }
};
// Integers that f32 rounds are far beyond the range of a half, so using f32 loses nothing.
template <class D, class S>
struct IntToHalf {
    static Half apply(S a) { return Half(float_to_half(IntToFloat<float, S>::apply(a))); }
};
template <unsigned round>
struct HalfToInt {
    template <class D, class H>
    struct Op {
        static D apply(H a) {
            return clamped<D>(integral<float, round>(half_to_float(uint16_t(a))));
        }
    };
};
struct HalfToDouble {
    static double apply(Half a) { return double(half_to_float(uint16_t(a))); }
};
struct ToHalf2 {
    static uint32_t apply(float a, float b) {
        return uint32_t(float_to_half(a)) << 16 | float_to_half(b);
    }
};
struct ToBf162 {
    static uint32_t apply(float a, float b) {
        return uint32_t(float_to_bf16(a)) << 16 | float_to_bf16(b);
    }
};

template <template <unsigned> class Family, class F>
bool bind_float_to_integer(Type to, unsigned round, Selected& out) {
    switch (round) {
    case kRni:
        return bind_to_integer<Family<kRni>::template Op, F>(to, out);
    case kRzi:
        return bind_to_integer<Family<kRzi>::template Op, F>(to, out);
    case kRmi:
        return bind_to_integer<Family<kRmi>::template Op, F>(to, out);
    case kRpi:
        return bind_to_integer<Family<kRpi>::template Op, F>(to, out);
    default:
        return false;
    }
}
template <template <class, class> class Op, class F>
bool bind_integer_to_float(Type from, Selected& out) {
    switch (from) {
    case Type::kU16:
        return bind<Op<F, uint16_t>>(out);
    case Type::kS16:
        return bind<Op<F, int16_t>>(out);
    case Type::kU32:
        return bind<Op<F, uint32_t>>(out);
    case Type::kS32:
        return bind<Op<F, int32_t>>(out);
    case Type::kU64:
        return bind<Op<F, uint64_t>>(out);
    case Type::kS64:
        return bind<Op<F, int64_t>>(out);
    default:
        return false;
    }
}

template <class T, class S>
bool bind_round(unsigned round, Selected& out) {
    switch (round) {
    case kNoRound:
        return bind<CopyFloat<T, S>>(out);
    case kRni:
        return bind<RoundFloat<T, S, kRni>>(out);
    case kRzi:
        return bind<RoundFloat<T, S, kRzi>>(out);
    case kRmi:
        return bind<RoundFloat<T, S, kRmi>>(out);
    case kRpi:
        return bind<RoundFloat<T, S, kRpi>>(out);
    default:
        return false;
    }
}

}  // namespace

bool bind_pair_loop(bool half, Selected& out) {
    return half ? bind<ToHalf2>(out) : bind<ToBf162>(out);
}

// The tables cover registers of the types' own sizes, and bytes in 16 or 32 bits.
bool bind_conversion_loop(const Form& form, unsigned round, unsigned flags, unsigned from_bytes,
                          unsigned to_bytes, Selected& out) {
    const Type to = form.type(0), from = form.type(1);
    const bool from_float = ptx::is_float(from), to_float = ptx::is_float(to);
    if (!from_float && !to_float) {
        if (flags) return false;
        if (to_bytes == 2 && to == Type::kU8) return bind_to_byte<uint8_t>(from_bytes, out);
        if (to_bytes == 2 && to == Type::kS8) return bind_to_byte<int8_t>(from_bytes, out);
        if (to_bytes != ptx::byte_size(to)) return false;
        return to_bytes == 2   ? bind_extend<uint16_t>(from, from_bytes, out)
               : to_bytes == 4 ? bind_extend<uint32_t>(from, from_bytes, out)
                               : bind_extend<uint64_t>(from, from_bytes, out);
    }
    if (to_bytes != ptx::byte_size(to) || from_bytes != ptx::byte_size(from)) return false;
    if (!from_float) {
        if (flags || (round != kRn && round != kNoRound)) return false;
        return to == Type::kF32   ? bind_integer_to_float<IntToFloat, float>(from, out)
               : to == Type::kF64 ? bind_integer_to_float<IntToFloat, double>(from, out)
               : to == Type::kF16 ? bind_integer_to_float<IntToHalf, Half>(from, out)
                                  : false;
    }
    if (!to_float) {
        // Subnormals round to 0 in these two directions whether flushed or not.
        const bool flush_matters = round == kRmi || round == kRpi;
        if ((flags & ~(kFtz | kSat)) || ((flags & kFtz) && flush_matters)) return false;
        return from == Type::kF32   ? bind_float_to_integer<FloatToInt, float>(to, round, out)
               : from == Type::kF64 ? bind_float_to_integer<FloatToInt, double>(to, round, out)
               : from == Type::kF16 ? bind_float_to_integer<HalfToInt, Half>(to, round, out)
                                    : false;
    }
    const bool ftz = flags & kFtz, sat = flags & kSat;
    if (flags & ~(kFtz | kSat)) return false;
    if (from == Type::kF32 && to == Type::kF32) {
        if (ftz)
            return sat ? bind_round<float, Style<float, true, true>>(round, out)
                       : bind_round<float, Style<float, true, false>>(round, out);
        return sat ? bind_round<float, Style<float, false, true>>(round, out)
                   : bind_round<float, Style<float, false, false>>(round, out);
    }
    if (sat) return false;
    if (from == Type::kF64 && to == Type::kF64)
        return !ftz && bind_round<double, Style<double, false, false>>(round, out);
    if (from == Type::kF32 && to == Type::kF64 && round == kNoRound)
        return ftz ? bind<Widen<true>>(out) : bind<Widen<false>>(out);
    if (from == Type::kF64 && to == Type::kF32 && round == kRn)
        return ftz ? bind<Narrow<true>>(out) : bind<Narrow<false>>(out);
    if (ftz) return false;
    if (from == Type::kF16 && to == Type::kF32 && round == kNoRound) return bind<FromHalf>(out);
    if (from == Type::kF16 && to == Type::kF64 && round == kNoRound) return bind<HalfToDouble>(out);
    if (from == Type::kBf16 && to == Type::kF32 && round == kNoRound) return bind<FromBf16>(out);
    if (from == Type::kF32 && to == Type::kF16 && round == kRn) return bind<ToHalf>(out);
    return from == Type::kF32 && to == Type::kBf16 && round == kRn && bind<ToBf16>(out);
}

}  // namespace machine::LEVEL_NS
