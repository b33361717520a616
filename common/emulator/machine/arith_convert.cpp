// SPDX-License-Identifier: MIT
// PTX ISA "Data Movement and Conversion Instructions: cvt". Common pairs of types have loops that
// vectorise; everything else goes through ExactNumber, lane by lane, with one general handler.
//
// Operand registers may be wider than the types: a source is cut, a destination extended by its
// type's signedness. A float that has no integer saturates; NaN gives 0, except that f64 sources and
// 64-bit destinations give 0x80...0, as PTX ISA 9.0 says.
#include "machine/arith_float.h"

namespace machine::ARITH_NS {
namespace {

// ---- the general way -------------------------------------------------------------------------

enum class Format : uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kHalf, kBf16, kTf32, kF32, kF64, kNone };
Format format_of(Type type) {
    switch (type) {
    case Type::kU8: case Type::kB8: return Format::kU8;
    case Type::kS8: return Format::kS8;
    case Type::kU16: return Format::kU16;
    case Type::kS16: return Format::kS16;
    case Type::kU32: return Format::kU32;
    case Type::kS32: return Format::kS32;
    case Type::kU64: return Format::kU64;
    case Type::kS64: return Format::kS64;
    case Type::kF16: return Format::kHalf;
    case Type::kBf16: return Format::kBf16;
    case Type::kTf32: return Format::kTf32;
    case Type::kF32: return Format::kF32;
    case Type::kF64: return Format::kF64;
    default: return Format::kNone;
    }
}
bool is_float_format(Format format) { return format >= Format::kHalf; }
FloatFormat float_format(Format format) {
    switch (format) {
    case Format::kHalf: return kHalfFormat;
    case Format::kBf16: return kBf16Format;
    case Format::kTf32: return kTf32Format;
    case Format::kF32: return kFloatFormat;
    default: return kDoubleFormat;
    }
}
unsigned integer_bits(Format format) { return 8u << (unsigned(format) / 2); }
bool is_signed_format(Format format) { return unsigned(format) & 1; }

// Rounding as cvt spells it: none, to the destination's precision, or to an integer.
enum Round : uint8_t { kNone, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };
Rounding rounding_of(unsigned round) {
    switch (round) {
    case kRz: case kRzi: return Rounding::kZero;
    case kRm: case kRmi: return Rounding::kDown;
    case kRp: case kRpi: return Rounding::kUp;
    case kRna: return Rounding::kNearestAway;
    default: return Rounding::kNearestEven;
    }
}

// Instr::extra: formats and log2 of the register bytes less 1 (2, 4 or 8 bytes) of both sides, and
// the rounding. The flags do not fit and make 16 handlers.
struct Conversion {
    Format from, to;
    unsigned from_size, to_size;
    unsigned round;
    uint16_t packed() const {
        return uint16_t(unsigned(from) | unsigned(to) << 4 | from_size << 8 | to_size << 10 |
                        round << 12);
    }
    explicit Conversion(uint16_t bits)
        : from(Format(bits & 15)), to(Format(bits >> 4 & 15)), from_size(bits >> 8 & 3),
          to_size(bits >> 10 & 3), round(bits >> 12) {}
};
enum Flags { kFtz = 1, kSat = 2, kRelu = 4, kSatFinite = 8 };

uint64_t load(const Lanes& lanes, uint32_t row, unsigned size, uint32_t i) {
    if (size == 0) return lanes.row<uint16_t>(row)[i];
    if (size == 1) return lanes.row<uint32_t>(row)[i];
    return lanes.row<uint64_t>(row)[i];
}
void save(Lanes& lanes, uint32_t row, unsigned size, uint32_t i, uint64_t value) {
    if (size == 0) lanes.row<uint16_t>(row)[i] = uint16_t(value);
    else if (size == 1) lanes.row<uint32_t>(row)[i] = uint32_t(value);
    else lanes.row<uint64_t>(row)[i] = value;
}
// The low `bits` of a value, extended to 64.
uint64_t extended(uint64_t value, unsigned bits, bool is_signed) {
    const unsigned rest = 64 - bits;
    return is_signed ? uint64_t(int64_t(value << rest) >> rest) : value << rest >> rest;
}

uint64_t converted(uint64_t bits, const Conversion& c, unsigned flags) {
    if (!is_float_format(c.from)) {
        const bool is_signed = is_signed_format(c.from);
        bits = extended(bits, integer_bits(c.from), is_signed);
        if (!is_float_format(c.to) && !(flags & kSat))
            return extended(bits, integer_bits(c.to), is_signed_format(c.to));
    }
    ExactNumber x = is_float_format(c.from) ? exact_from_float(bits, float_format(c.from))
                    : is_signed_format(c.from) ? exact_from_signed(int64_t(bits))
                                               : exact_from_unsigned(bits);
    const auto flush = [&](ExactNumber& number) {
        if (is_subnormal(number, kFloatFormat)) number.magnitude = 0;
    };
    if ((flags & kFtz) && c.from == Format::kF32) flush(x);
    const Rounding rounding = rounding_of(c.round);
    if (!is_float_format(c.to)) {
        const unsigned width = integer_bits(c.to);
        const bool wide_nan = c.from == Format::kF64 || width == 64;
        const uint64_t nan = wide_nan ? extended(uint64_t(1) << (width - 1), width,
                                                 is_signed_format(c.to))
                                      : 0;
        return to_integer_bits(x, width, is_signed_format(c.to), rounding, nan);
    }
    const bool to_integral = c.round >= kRni;
    if (to_integral) x = round_to_integral(x, rounding);
    const bool nan = x.kind == ExactNumber::Kind::kNan;
    if ((flags & kSat) && (nan || x.negative)) x = ExactNumber{};
    if ((flags & kRelu) && !nan && x.negative) x = ExactNumber{};
    const FloatFormat format = float_format(c.to);
    uint64_t result = to_float_bits(x, format, to_integral ? Rounding::kNearestEven : rounding,
                                    flags & kSatFinite);
    if (flags & kSat) {
        const uint64_t one = to_float_bits(exact_from_unsigned(1), format, Rounding::kZero);
        if (result > one) result = one;  // both positive, so their bits order like the numbers
    }
    if ((flags & kFtz) && c.to == Format::kF32 && !(result & 0x7f800000)) result &= 0x80000000;
    return result;
}
[[gnu::noinline]] void convert_general(Lanes& lanes, const Instr& in, unsigned flags) {
    const Conversion c(in.extra);
    for_lanes(lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
        save(lanes, in.dst, c.to_size, i,
             converted(load(lanes, in.src[0], c.from_size, i), c, flags));
    });
}
template <unsigned flags> void convert(Lanes& lanes, const Instr& in) {
    convert_general(lanes, in, flags);
}
template <size_t... flags> Handler general_handler(unsigned wanted, std::index_sequence<flags...>) {
    constexpr Handler kHandlers[] = {&convert<flags>...};
    return kHandlers[wanted];
}

// cvt.f16x2.f32 d, a, b: a becomes the upper half, b the lower.
template <unsigned flags> void convert_pair(Lanes& lanes, const Instr& in) {
    const Conversion c(in.extra);
    const float* const a = lanes.row<float>(in.src[0]);
    const float* const b = lanes.row<float>(in.src[1]);
    for_lanes(lanes.mask, [&](uint32_t i) {
        const uint64_t high = converted(bits_as<uint32_t>(a[i]), c, flags);
        const uint64_t low = converted(bits_as<uint32_t>(b[i]), c, flags);
        lanes.row<uint32_t>(in.dst)[i] = uint32_t(low | high << 16);
    });
}
template <size_t... flags> Handler pair_handler(unsigned wanted, std::index_sequence<flags...>) {
    constexpr Handler kHandlers[] = {&convert_pair<flags>...};
    return kHandlers[wanted];
}

// ---- loops for the common pairs --------------------------------------------------------------

// D: the destination register, S: the source register, T: the type that the source is cut to.
template <class D, class S, class T> struct Extend {
    static D apply(S a) { return D(T(a)); }
};
// To 8 bits, extended to the 16-bit register again.
template <class T, class S> struct ToByte {
    static uint16_t apply(S a) { return uint16_t(T(a)); }
};

template <class D> bool bind_extend(Type type, unsigned from_bytes, Selected& out) {
    switch (type) {
    case Type::kU8:
        return from_bytes == 2   ? bind<Extend<D, uint16_t, uint8_t>>(out)
               : from_bytes == 4 ? bind<Extend<D, uint32_t, uint8_t>>(out)
                                 : false;
    case Type::kS8:
        return from_bytes == 2   ? bind<Extend<D, uint16_t, int8_t>>(out)
               : from_bytes == 4 ? bind<Extend<D, uint32_t, int8_t>>(out)
                                 : false;
    case Type::kU16: return from_bytes == 2 && bind<Extend<D, uint16_t, uint16_t>>(out);
    case Type::kS16: return from_bytes == 2 && bind<Extend<D, uint16_t, int16_t>>(out);
    case Type::kU32: return from_bytes == 4 && bind<Extend<D, uint32_t, uint32_t>>(out);
    case Type::kS32: return from_bytes == 4 && bind<Extend<D, uint32_t, int32_t>>(out);
    case Type::kU64: case Type::kS64: return bind<Extend<D, uint64_t, uint64_t>>(out);
    default: return false;
    }
}
template <class T> bool bind_to_byte(unsigned from_bytes, Selected& out) {
    return from_bytes == 2   ? bind<ToByte<T, uint16_t>>(out)
           : from_bytes == 4 ? bind<ToByte<T, uint32_t>>(out)
                             : bind<ToByte<T, uint64_t>>(out);
}

// Exact for what fits, else rounded to nearest by the processor.
template <class D, class S> struct IntToFloat {
    static D apply(S a) { return D(a); }
};
// AVX2 has no conversions of unsigned or 64-bit integers: split into halves that are exact.
template <> struct IntToFloat<double, uint32_t> {
    static double apply(uint32_t a) {
        return bits_as<double>(0x4330000000000000 | uint64_t(a)) - 0x1p52;
    }
};
template <> struct IntToFloat<float, uint32_t> {
    static float apply(uint32_t a) { return float(IntToFloat<double, uint32_t>::apply(a)); }
};

template <class F, unsigned round> [[gnu::always_inline]] inline F integral(F x) {
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
template <class D, class F> [[gnu::always_inline]] inline D clamped(F x) {
    constexpr F kTop = F(uint64_t(1) << 31) * (sizeof(D) == 8 ? F(0x1p32) : F(1));
    using S = std::make_signed_t<D>;
    using U = std::make_unsigned_t<D>;
    constexpr D kNan = sizeof(F) == 8 || sizeof(D) == 8 ? D(U(1) << (8 * sizeof(D) - 1)) : D(0);
    if constexpr (std::is_signed_v<D>) {
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
template <unsigned round> struct FloatToInt {
    template <class D, class F> struct Op {
        static D apply(F a) { return clamped<D>(integral<F, round>(a)); }
    };
};
template <template <class, class> class Op, class F> bool bind_to_integer(Type to, Selected& out) {
    switch (to) {
    case Type::kS32: return bind<Op<int32_t, F>>(out);
    case Type::kU32: return bind<Op<uint32_t, F>>(out);
    case Type::kS64: return bind<Op<int64_t, F>>(out);
    case Type::kU64: return bind<Op<uint64_t, F>>(out);
    default: return false;
    }
}
template <bool ftz> struct Narrow {
    static float apply(double a) { return Style<float, ftz, false>::out(float(a)); }
};
template <bool ftz> struct Widen {
    static double apply(float a) { return double(Style<float, ftz, false>::in(a)); }
};
template <class T, class S, unsigned round> struct RoundFloat {
    static T apply(T a) { return S::out(integral<T, round>(S::in(a))); }
};
template <class T, class S> struct CopyFloat {
    static T apply(T a) { return S::out(S::in(a)); }
};
struct FromHalf {
    static float apply(Half a) { return canonical(half_to_float(uint16_t(a))); }
};
struct FromBf16 {
    static float apply(Bf16 a) { return canonical(bf16_to_float(uint16_t(a))); }
};
struct ToHalf {
    static Half apply(float a) { return Half(float_to_half(a)); }
};
struct ToBf16 {
    static Bf16 apply(float a) { return Bf16(float_to_bf16(a)); }
};
// Every integer that f32 rounds is far beyond what a half can hold, so f32 loses nothing.
template <class D, class S> struct IntToHalf {
    static Half apply(S a) { return Half(float_to_half(IntToFloat<float, S>::apply(a))); }
};
template <unsigned round> struct HalfToInt {
    template <class D, class H> struct Op {
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
    case kRni: return bind_to_integer<Family<kRni>::template Op, F>(to, out);
    case kRzi: return bind_to_integer<Family<kRzi>::template Op, F>(to, out);
    case kRmi: return bind_to_integer<Family<kRmi>::template Op, F>(to, out);
    case kRpi: return bind_to_integer<Family<kRpi>::template Op, F>(to, out);
    default: return false;
    }
}
template <template <class, class> class Op, class F>
bool bind_integer_to_float(Type from, Selected& out) {
    switch (from) {
    case Type::kU16: return bind<Op<F, uint16_t>>(out);
    case Type::kS16: return bind<Op<F, int16_t>>(out);
    case Type::kU32: return bind<Op<F, uint32_t>>(out);
    case Type::kS32: return bind<Op<F, int32_t>>(out);
    case Type::kU64: return bind<Op<F, uint64_t>>(out);
    case Type::kS64: return bind<Op<F, int64_t>>(out);
    default: return false;
    }
}

template <class T, class S> bool bind_round(unsigned round, Selected& out) {
    switch (round) {
    case kNone: return bind<CopyFloat<T, S>>(out);
    case kRni: return bind<RoundFloat<T, S, kRni>>(out);
    case kRzi: return bind<RoundFloat<T, S, kRzi>>(out);
    case kRmi: return bind<RoundFloat<T, S, kRmi>>(out);
    case kRpi: return bind<RoundFloat<T, S, kRpi>>(out);
    default: return false;
    }
}

// A loop for this conversion, if there is one. Register sizes are those of the types, but for bytes.
bool bind_common(const Form& form, unsigned round, unsigned flags, unsigned from_bytes,
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
        if (flags || (round != kRn && round != kNone)) return false;
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
    if (from == Type::kF32 && to == Type::kF64 && round == kNone)
        return ftz ? bind<Widen<true>>(out) : bind<Widen<false>>(out);
    if (from == Type::kF64 && to == Type::kF32 && round == kRn)
        return ftz ? bind<Narrow<true>>(out) : bind<Narrow<false>>(out);
    if (ftz) return false;
    if (from == Type::kF16 && to == Type::kF32 && round == kNone) return bind<FromHalf>(out);
    if (from == Type::kF16 && to == Type::kF64 && round == kNone) return bind<HalfToDouble>(out);
    if (from == Type::kBf16 && to == Type::kF32 && round == kNone) return bind<FromBf16>(out);
    if (from == Type::kF32 && to == Type::kF16 && round == kRn) return bind<ToHalf>(out);
    return from == Type::kF32 && to == Type::kBf16 && round == kRn && bind<ToBf16>(out);
}

unsigned round_of(const Form& form) {
    constexpr Mod kMods[] = {Mod::k_rn,  Mod::k_rz,  Mod::k_rm,  Mod::k_rp, Mod::k_rna,
                             Mod::k_rni, Mod::k_rzi, Mod::k_rmi, Mod::k_rpi};
    for (unsigned k = 0; k < 9; ++k)
        if (form.has(kMods[k])) return kRn + k;
    return kNone;
}
unsigned size_code(unsigned bytes) { return bytes == 8 ? 2 : bytes == 4 ? 1 : 0; }
Type register_type(unsigned bytes) {
    return bytes == 8 ? Type::kU64 : bytes == 4 ? Type::kU32 : Type::kU16;
}

bool select_pair(const Form& form, unsigned round, unsigned flags, Selected& out) {
    const bool half = form.type(0) == Type::kF16x2;
    if (form.type(1) != Type::kF32 || form.source_count != 2 || (flags & (kFtz | kSat))) return false;
    if (round != kRn && round != kRz) return false;
    if (round == kRn && !flags) return half ? bind<ToHalf2>(out) : bind<ToBf162>(out);
    Conversion c(0);
    c.from = Format::kF32;
    c.to = half ? Format::kHalf : Format::kBf16;
    c.round = round;
    out.handler = pair_handler(flags, std::make_index_sequence<16>{});
    out.extra = c.packed();
    out.sources = 2;
    out.src[0] = out.src[1] = Type::kF32;
    out.dst = Type::kB32;
    return true;
}

}  // namespace

bool select_convert(const Form& form, Selected& out) {
    if (form.opcode != Opcode::k_cvt || form.type_count != 2) return false;
    if (!form.only<Mod::k_rn, Mod::k_rz, Mod::k_rm, Mod::k_rp, Mod::k_rna, Mod::k_rni, Mod::k_rzi,
                   Mod::k_rmi, Mod::k_rpi, Mod::k_ftz, Mod::k_sat, Mod::k_relu, Mod::k_satfinite>())
        return false;
    const unsigned round = round_of(form);
    const unsigned flags = (form.has(Mod::k_ftz) ? kFtz : 0) | (form.has(Mod::k_sat) ? kSat : 0) |
                           (form.has(Mod::k_relu) ? kRelu : 0) |
                           (form.has(Mod::k_satfinite) ? kSatFinite : 0);
    const Type to = form.type(0), from = form.type(1);
    if (to == Type::kF16x2 || to == Type::kBf16x2) return select_pair(form, round, flags, out);
    const Format to_format = format_of(to), from_format = format_of(from);
    if (to_format == Format::kNone || from_format == Format::kNone || form.source_count != 1)
        return false;
    const unsigned to_least = ptx::byte_size(to) < 2 ? 2 : ptx::byte_size(to);
    const unsigned from_least = ptx::byte_size(from) < 2 ? 2 : ptx::byte_size(from);
    const unsigned to_bytes = form.dst_bytes ? form.dst_bytes : to_least;
    const unsigned from_bytes = form.src_bytes[0] ? form.src_bytes[0] : from_least;
    if (to_bytes < to_least || from_bytes < from_least || to_bytes > 8 || from_bytes > 8)
        return false;
    if (!bind_common(form, round, flags, from_bytes, to_bytes, out)) {
        Conversion c(0);
        c.from = from_format;
        c.to = to_format;
        c.from_size = size_code(from_bytes);
        c.to_size = size_code(to_bytes);
        c.round = round;
        out.handler = general_handler(flags, std::make_index_sequence<16>{});
        out.extra = c.packed();
        out.sources = 1;
    }
    out.dst = register_type(to_bytes);
    // The type itself where the register has its size, so that an immediate is read as written.
    out.src[0] = from_bytes == ptx::byte_size(from) ? from : register_type(from_bytes);
    return true;
}

}  // namespace machine::ARITH_NS
