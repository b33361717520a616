// SPDX-License-Identifier: MIT
// Numbers in every format of PTX: binary16, bfloat16, tf32, binary32, binary64 and integers. The
// inline functions at the top are for lane loops and vectorise; ExactNumber is the slow and general
// conversion from any format to any other under any rounding, with a single rounding.
#pragma once

#include <cstdint>

namespace machine {

// The same bits as another type of the same size.
template <class To, class From>
[[gnu::always_inline]] constexpr To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}

constexpr uint32_t kCanonicalNan32 = 0x7fffffff;        // what f32 arithmetic returns for every NaN
constexpr uint64_t kInvalidNan64 = 0xfff8000000000000;  // of an f64 operation on numbers
constexpr uint16_t kCanonicalNan16 = 0x7fff;            // f16 and bf16

// Exact. A NaN keeps its payload. Only the low 16 bits are used; the wide type is for vectors.
[[gnu::always_inline]] inline float half_to_float(uint32_t half) {
    const uint32_t magnitude = half & 0x7fff;
    // Moves the exponent's bias from 15 to 127, or its largest value from 31 to 255. Subnormals
    // are counts of 2^-24; going through an integer avoids slow arithmetic on subnormal floats.
    const uint32_t rebias = magnitude >= 0x7c00 ? 224u << 23 : 112u << 23;
    const uint32_t normal = (magnitude << 13) + rebias;
    const uint32_t subnormal = bits_as<uint32_t>(float(int32_t(magnitude)) * 0x1p-24f);
    const uint32_t result = magnitude < 0x400 ? subnormal : normal;
    return bits_as<float>(result | (half & 0x8000) << 16);
}

// The NaN result of an f64 operation: the first operand that is a NaN, quieted, else the NaN of an
// invalid operation. Processors differ in both.
double nan_of(double first, double second, double third = 0);

// Rounds to nearest, ties to even. NaN becomes 0x7fff. The result is below 65536.
[[gnu::always_inline]] inline uint32_t float_to_half(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    // 0.5f has the ulp of half's subnormals, so the addition rounds at that bit.
    const uint32_t subnormal =
        bits_as<uint32_t>(bits_as<float>(magnitude) + 0.5f) - bits_as<uint32_t>(0.5f);
    uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
    result = magnitude >= 0x477ff000u ? 0x7c00u : result;  // 65520 and above
    result |= sign;
    return magnitude > 0x7f800000u ? uint32_t(kCanonicalNan16) : result;
}

[[gnu::always_inline]] inline float bf16_to_float(uint32_t value) {
    return bits_as<float>(value << 16);
}

// Rounds to nearest, ties to even. NaN becomes 0x7fff. The result is below 65536.
[[gnu::always_inline]] inline uint32_t float_to_bf16(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000u ? uint32_t(kCanonicalNan16) : rounded;
}

enum class Rounding : uint8_t { kNearestEven, kZero, kDown, kUp, kNearestAway };

// A binary format in the style of IEEE 754: sign, exponent, fraction, then bits that are always
// zero (tf32).
struct FloatFormat {
    unsigned exponent_bits, fraction_bits, zero_bits;
};
constexpr FloatFormat kHalfFormat{5, 10, 0}, kBf16Format{8, 7, 0}, kTf32Format{8, 10, 13},
    kFloatFormat{8, 23, 0}, kDoubleFormat{11, 52, 0};

// (-1)^negative * magnitude * 2^exponent, or an infinity or NaN with that sign.
struct ExactNumber {
    enum class Kind : uint8_t { kFinite, kInfinite, kNan };
    Kind kind = Kind::kFinite;
    bool negative = false;
    int exponent = 0;
    uint64_t magnitude = 0;
};

ExactNumber exact_from_signed(int64_t value);
ExactNumber exact_from_unsigned(uint64_t value);
ExactNumber exact_from_float(uint64_t bits, FloatFormat format);

// Below the format's smallest normal number, and not zero.
bool is_subnormal(const ExactNumber& number, FloatFormat format);

// Rounds `number` to an integer. Keeps infinities, NaNs and the sign of a zero result.
ExactNumber round_to_integral(ExactNumber number, Rounding rounding);

// The encoding in `format`. Overflow gives infinity or the largest number, depending on `rounding`,
// and always the largest number if `finite`. NaN gives the canonical one: all bits except the sign
// set, but 0x7ff8000000000000 for binary64.
uint64_t to_float_bits(const ExactNumber& number, FloatFormat format, Rounding rounding,
                       bool finite = false);

// Clamped to the range of `bits` (8 to 64) bits, two's complement, in the low bits of the result,
// extended to 64 by its signedness. NaN gives `nan`.
uint64_t to_integer_bits(const ExactNumber& number, unsigned bits, bool is_signed,
                         Rounding rounding, uint64_t nan);

uint16_t float_to_half(float value, Rounding rounding);
uint16_t float_to_bf16(float value, Rounding rounding);
uint16_t double_to_half(double value, Rounding rounding);

}  // namespace machine
