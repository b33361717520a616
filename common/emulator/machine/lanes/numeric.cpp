// SPDX-License-Identifier: MIT
// Exact numbers: converts any PTX format to any other with a single rounding.
#include "machine/lanes/numeric.h"

#include <bit>
#include <initializer_list>

namespace machine {
namespace {

// magnitude / 2^shift, rounded to an integer. shift > 0.
uint64_t rounded_shift(uint64_t magnitude, int shift, bool negative, Rounding rounding) {
    const uint64_t quotient = shift < 64 ? magnitude >> shift : 0;
    if (magnitude == 0) return 0;
    // Compare the remainder with half of 2^shift.
    int against_half;  // -1, 0, 1; meaningful when the remainder is not 0
    bool exact = false;
    if (shift > 64) {
        against_half = -1;
    } else {
        const uint64_t half = uint64_t(1) << (shift - 1);
        const uint64_t remainder = shift == 64 ? magnitude : magnitude & (half * 2 - 1);
        exact = remainder == 0;
        against_half = remainder < half ? -1 : remainder > half;
    }
    if (exact) return quotient;
    bool up = false;
    switch (rounding) {
    case Rounding::kNearestEven:
        up = against_half > 0 || (against_half == 0 && (quotient & 1));
        break;
    case Rounding::kNearestAway:
        up = against_half >= 0;
        break;
    case Rounding::kZero:
        break;
    case Rounding::kDown:
        up = negative;
        break;
    case Rounding::kUp:
        up = !negative;
        break;
    }
    return quotient + up;
}

}  // namespace

double nan_of(double first, double second, double third) {
    for (const double operand : {first, second, third})
        if (operand != operand) return bits_as<double>(bits_as<uint64_t>(operand) | 1ull << 51);
    return bits_as<double>(kInvalidNan64);
}

ExactNumber exact_from_unsigned(uint64_t value) {
    ExactNumber number;
    number.magnitude = value;
    return number;
}

ExactNumber exact_from_signed(int64_t value) {
    ExactNumber number;
    number.negative = value < 0;
    number.magnitude = value < 0 ? uint64_t(0) - uint64_t(value) : uint64_t(value);
    return number;
}

ExactNumber exact_from_float(uint64_t bits, FloatFormat format) {
    bits >>= format.zero_bits;
    const uint64_t fraction = bits & ((uint64_t(1) << format.fraction_bits) - 1);
    const unsigned top = (1u << format.exponent_bits) - 1;
    const unsigned exponent = unsigned(bits >> format.fraction_bits) & top;
    const int bias = int(top >> 1);
    ExactNumber number;
    number.negative = bits >> (format.fraction_bits + format.exponent_bits) & 1;
    if (exponent == top) {
        number.kind = fraction ? ExactNumber::Kind::kNan : ExactNumber::Kind::kInfinite;
        return number;
    }
    number.exponent = int(exponent ? exponent : 1) - bias - int(format.fraction_bits);
    number.magnitude = fraction | (exponent ? uint64_t(1) << format.fraction_bits : 0);
    return number;
}

bool is_subnormal(const ExactNumber& number, FloatFormat format) {
    if (number.kind != ExactNumber::Kind::kFinite || number.magnitude == 0) return false;
    const int smallest = 2 - (1 << (format.exponent_bits - 1));
    return number.exponent + int(std::bit_width(number.magnitude)) - 1 < smallest;
}

ExactNumber round_to_integral(ExactNumber number, Rounding rounding) {
    if (number.kind != ExactNumber::Kind::kFinite || number.exponent >= 0) return number;
    number.magnitude = rounded_shift(number.magnitude, -number.exponent, number.negative, rounding);
    number.exponent = 0;
    return number;
}

uint64_t to_float_bits(const ExactNumber& number, FloatFormat format, Rounding rounding,
                       bool finite) {
    const unsigned fraction_bits = format.fraction_bits;
    const uint64_t infinity = ((uint64_t(1) << format.exponent_bits) - 1) << fraction_bits;
    const uint64_t sign = uint64_t(number.negative)
                          << (format.exponent_bits + fraction_bits + format.zero_bits);
    if (number.kind == ExactNumber::Kind::kNan) {
        if (fraction_bits == 52) return infinity | uint64_t(1) << 51;
        return ((infinity | (infinity - 1)) << format.zero_bits) |
               ((uint64_t(1) << format.zero_bits) - 1);
    }
    uint64_t result;
    if (number.kind == ExactNumber::Kind::kInfinite) {
        result = finite ? infinity - 1 : infinity;
    } else if (number.magnitude == 0) {
        result = 0;
    } else {
        const int bias = (1 << (format.exponent_bits - 1)) - 1;
        const int top = number.exponent + int(std::bit_width(number.magnitude)) - 1;
        const int scale = top < 1 - bias ? 1 - bias : top;
        const int shift = scale - int(fraction_bits) - number.exponent;
        const uint64_t significand =
            shift > 0 ? rounded_shift(number.magnitude, shift, number.negative, rounding)
                      : number.magnitude << -shift;
        if (scale > bias) {
            result = infinity;
        } else {
            // The significand's leading one, if there is one, adds 1 to the exponent field.
            result = (uint64_t(scale + bias - 1) << fraction_bits) + significand;
        }
        if (result >= infinity) {
            const bool to_infinity = rounding == Rounding::kNearestEven ||
                                     rounding == Rounding::kNearestAway ||
                                     (rounding == Rounding::kUp && !number.negative) ||
                                     (rounding == Rounding::kDown && number.negative);
            result = to_infinity && !finite ? infinity : infinity - 1;
        }
    }
    return result << format.zero_bits | sign;
}

uint64_t to_integer_bits(const ExactNumber& number, unsigned bits, bool is_signed,
                         Rounding rounding, uint64_t nan) {
    if (number.kind == ExactNumber::Kind::kNan) return nan;
    const uint64_t largest = ~uint64_t(0) >> (64 - bits + is_signed);
    const uint64_t limit = number.negative ? (is_signed ? largest + 1 : 0) : largest;
    uint64_t magnitude = limit;
    if (number.kind == ExactNumber::Kind::kFinite) {
        if (number.exponent < 0)
            magnitude =
                rounded_shift(number.magnitude, -number.exponent, number.negative, rounding);
        else if (number.magnitude == 0)
            magnitude = 0;
        else if (number.exponent + std::bit_width(number.magnitude) <= 64)
            magnitude = number.magnitude << number.exponent;
        if (magnitude > limit) magnitude = limit;
    }
    return number.negative ? uint64_t(0) - magnitude : magnitude;
}

uint16_t float_to_half(float value, Rounding rounding) {
    const auto exact = exact_from_float(bits_as<uint32_t>(value), kFloatFormat);
    return uint16_t(to_float_bits(exact, kHalfFormat, rounding));
}

uint16_t float_to_bf16(float value, Rounding rounding) {
    const auto exact = exact_from_float(bits_as<uint32_t>(value), kFloatFormat);
    return uint16_t(to_float_bits(exact, kBf16Format, rounding));
}

uint16_t double_to_half(double value, Rounding rounding) {
    const auto exact = exact_from_float(bits_as<uint64_t>(value), kDoubleFormat);
    return uint16_t(to_float_bits(exact, kHalfFormat, rounding));
}

}  // namespace machine
