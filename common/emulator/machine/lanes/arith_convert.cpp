// SPDX-License-Identifier: MIT
// PTX ISA "Data Movement and Conversion Instructions: cvt". Common pairs of types have loops that
// vectorise (arith_convert_loops.cpp); all others go through ExactNumber, lane by lane, with one
// general handler.
//
// Operand registers may be wider than the types: a source is truncated, a destination extended by
// its type's signedness. A float out of the integer's range saturates; NaN gives 0, except that f64
// sources and 64-bit destinations give 0x80...0, as PTX ISA 9.0 says.
#include "machine/lanes/arith_convert.h"

namespace machine::LEVEL_NS {
namespace {

enum class Format : uint8_t {
    kU8,
    kS8,
    kU16,
    kS16,
    kU32,
    kS32,
    kU64,
    kS64,
    kHalf,
    kBf16,
    kTf32,
    kF32,
    kF64,
    kNone
};
Format format_of(Type type) {
    switch (type) {
    case Type::kU8:
    case Type::kB8:
        return Format::kU8;
    case Type::kS8:
        return Format::kS8;
    case Type::kU16:
        return Format::kU16;
    case Type::kS16:
        return Format::kS16;
    case Type::kU32:
        return Format::kU32;
    case Type::kS32:
        return Format::kS32;
    case Type::kU64:
        return Format::kU64;
    case Type::kS64:
        return Format::kS64;
    case Type::kF16:
        return Format::kHalf;
    case Type::kBf16:
        return Format::kBf16;
    case Type::kTf32:
        return Format::kTf32;
    case Type::kF32:
        return Format::kF32;
    case Type::kF64:
        return Format::kF64;
    default:
        return Format::kNone;
    }
}
bool is_float_format(Format format) {
    return format >= Format::kHalf;
}
FloatFormat float_format(Format format) {
    switch (format) {
    case Format::kHalf:
        return kHalfFormat;
    case Format::kBf16:
        return kBf16Format;
    case Format::kTf32:
        return kTf32Format;
    case Format::kF32:
        return kFloatFormat;
    default:
        return kDoubleFormat;
    }
}
unsigned integer_bits(Format format) {
    return 8u << (unsigned(format) / 2);
}
bool is_signed_format(Format format) {
    return unsigned(format) & 1;
}

Rounding rounding_of(unsigned round) {
    switch (round) {
    case kRz:
    case kRzi:
        return Rounding::kZero;
    case kRm:
    case kRmi:
        return Rounding::kDown;
    case kRp:
    case kRpi:
        return Rounding::kUp;
    case kRna:
        return Rounding::kNearestAway;
    default:
        return Rounding::kNearestEven;
    }
}

// Instr::extra: formats and log2 of the register bytes less 1 (2, 4 or 8 bytes) of both sides, and
// the rounding. The flags do not fit and select one of 16 handlers.
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

uint64_t load(const Lanes& lanes, uint32_t row, unsigned size, uint32_t i) {
    if (size == 0) return lanes.row<uint16_t>(row)[i];
    if (size == 1) return lanes.row<uint32_t>(row)[i];
    return lanes.row<uint64_t>(row)[i];
}
void save(Lanes& lanes, uint32_t row, unsigned size, uint32_t i, uint64_t value) {
    if (size == 0)
        lanes.row<uint16_t>(row)[i] = uint16_t(value);
    else if (size == 1)
        lanes.row<uint32_t>(row)[i] = uint32_t(value);
    else
        lanes.row<uint64_t>(row)[i] = value;
}
// The low `bits` of a value, extended to 64.
uint64_t extended(uint64_t value, unsigned bits, bool is_signed) {
    const unsigned rest = 64 - bits;
    return is_signed ? uint64_t(int64_t(value << rest) >> rest) : value << rest >> rest;
}

// The NaN that a conversion of the NaN `bits` gives, as on an H200: from f64, the sign and the
// upper bits of the payload, quieted; to tf32, the bits that fit. Otherwise the canonical NaN.
uint64_t converted_nan(uint64_t bits, const Conversion& c, uint64_t canonical) {
    if (c.to == Format::kTf32) return bits & 0xffffe000;
    if (c.from != Format::kF64 || c.to == Format::kF64) return canonical;
    const FloatFormat to = float_format(c.to);
    const uint64_t sign = bits >> 63 << (to.exponent_bits + to.fraction_bits);
    const uint64_t payload = (bits & ((uint64_t(1) << 52) - 1)) >> (52 - to.fraction_bits);
    const uint64_t quiet = uint64_t(1) << (to.fraction_bits - 1);
    return sign | ((uint64_t(1) << to.exponent_bits) - 1) << to.fraction_bits | quiet | payload;
}

uint64_t converted(uint64_t bits, const Conversion& c, unsigned flags) {
    if (!is_float_format(c.from)) {
        const bool is_signed = is_signed_format(c.from);
        bits = extended(bits, integer_bits(c.from), is_signed);
        if (!is_float_format(c.to) && !(flags & kSat))
            return extended(bits, integer_bits(c.to), is_signed_format(c.to));
    }
    ExactNumber x = is_float_format(c.from)    ? exact_from_float(bits, float_format(c.from))
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
        const uint64_t nan =
            wide_nan ? extended(uint64_t(1) << (width - 1), width, is_signed_format(c.to)) : 0;
        return to_integer_bits(x, width, is_signed_format(c.to), rounding, nan);
    }
    const bool to_integral = c.round >= kRni;
    if (to_integral) x = round_to_integral(x, rounding);
    const bool nan = x.kind == ExactNumber::Kind::kNan;
    if ((flags & kSat) && (nan || x.negative)) x = ExactNumber{};
    if ((flags & kRelu) && !nan && x.negative) x = ExactNumber{};
    const FloatFormat format = float_format(c.to);
    uint64_t result = to_float_bits(
        x, format, to_integral ? Rounding::kNearestEven : rounding, flags & kSatFinite);
    if (nan && !(flags & kSat)) return converted_nan(bits, c, result);
    if (flags & kSat) {
        const uint64_t one = to_float_bits(exact_from_unsigned(1), format, Rounding::kZero);
        if (result > one) result = one;  // both positive: their bits order like the numbers
    }
    if ((flags & kFtz) && c.to == Format::kF32 && !(result & 0x7f800000)) result &= 0x80000000;
    return result;
}
[[gnu::noinline]] void convert_general(Lanes& lanes, const Instr& in, unsigned flags) {
    const Conversion c(in.extra);
    for_lanes(
        lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
            save(lanes,
                 in.dst,
                 c.to_size,
                 i,
                 converted(load(lanes, in.src[0], c.from_size, i), c, flags));
        });
}
template <unsigned flags>
void convert(Lanes& lanes, const Instr& in) {
    convert_general(lanes, in, flags);
}
template <size_t... flags>
Handler general_handler(unsigned wanted, std::index_sequence<flags...>) {
    constexpr Handler kHandlers[] = {&convert<flags>...};
    return kHandlers[wanted];
}

// cvt.f16x2.f32 d, a, b: a becomes the upper half, b the lower.
template <unsigned flags>
void convert_pair(Lanes& lanes, const Instr& in) {
    const Conversion c(in.extra);
    const float* const a = lanes.row<float>(in.src[0]);
    const float* const b = lanes.row<float>(in.src[1]);
    for_lanes(lanes.mask, [&](uint32_t i) {
        const uint64_t high = converted(bits_as<uint32_t>(a[i]), c, flags);
        const uint64_t low = converted(bits_as<uint32_t>(b[i]), c, flags);
        lanes.row<uint32_t>(in.dst)[i] = uint32_t(low | high << 16);
    });
}
template <size_t... flags>
Handler pair_handler(unsigned wanted, std::index_sequence<flags...>) {
    constexpr Handler kHandlers[] = {&convert_pair<flags>...};
    return kHandlers[wanted];
}

unsigned round_of(const Form& form) {
    constexpr Mod kMods[] = {Mod::k_rn,
                             Mod::k_rz,
                             Mod::k_rm,
                             Mod::k_rp,
                             Mod::k_rna,
                             Mod::k_rni,
                             Mod::k_rzi,
                             Mod::k_rmi,
                             Mod::k_rpi};
    for (unsigned k = 0; k < 9; ++k)
        if (form.has(kMods[k])) return kRn + k;
    return kNoRound;
}
unsigned size_code(unsigned bytes) {
    return bytes == 8 ? 2 : bytes == 4 ? 1 : 0;
}
Type register_type(unsigned bytes) {
    return bytes == 8 ? Type::kU64 : bytes == 4 ? Type::kU32 : Type::kU16;
}

bool select_pair(const Form& form, unsigned round, unsigned flags, Selected& out) {
    const bool half = form.type(0) == Type::kF16x2;
    if (form.type(1) != Type::kF32 || form.source_count != 2 || (flags & (kFtz | kSat)))
        return false;
    if (round != kRn && round != kRz) return false;
    if (round == kRn && !flags) return bind_pair_loop(half, out);
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
    if (!form.only<Mod::k_rn,
                   Mod::k_rz,
                   Mod::k_rm,
                   Mod::k_rp,
                   Mod::k_rna,
                   Mod::k_rni,
                   Mod::k_rzi,
                   Mod::k_rmi,
                   Mod::k_rpi,
                   Mod::k_ftz,
                   Mod::k_sat,
                   Mod::k_relu,
                   Mod::k_satfinite>())
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
    if (!bind_conversion_loop(form, round, flags, from_bytes, to_bytes, out)) {
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
    // The type itself if the register has its size, so that an immediate is read as written.
    out.src[0] = from_bytes == ptx::byte_size(from) ? from : register_type(from_bytes);
    return true;
}

}  // namespace machine::LEVEL_NS
