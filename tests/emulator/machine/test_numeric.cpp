// SPDX-License-Identifier: MIT
// Conversions between number formats: exhaustive for 16-bit formats, by cases for the rest.
#include <cmath>
#include <random>

#include "catch/catch.h"
#include "machine/lanes/numeric.h"

using namespace machine;

namespace {
float float_of(uint32_t bits) {
    return bits_as<float>(bits);
}
uint32_t bits_of(float x) {
    return bits_as<uint32_t>(x);
}

// A half's value by the definition of the format.
double half_value(uint16_t h) {
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                             : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                            : std::ldexp(fraction, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}
}  // namespace

TEST_CASE("half: every value widens exactly", "[numeric]") {
    for (uint32_t h = 0; h < 65536; ++h) {
        const double want = half_value(uint16_t(h));
        const float got = half_to_float(h);
        if (std::isnan(want)) {
            if (!std::isnan(got)) FAIL(h);
        } else if (double(got) != want || std::signbit(got) != std::signbit(want)) {
            FAIL(h << ": " << got << " is not " << want);
        }
    }
}

TEST_CASE("half: every value survives the way to f32 and back", "[numeric]") {
    for (uint32_t h = 0; h < 65536; ++h) {
        const bool nan = (h & 0x7fff) > 0x7c00;
        const uint32_t want = nan ? 0x7fff : h;
        if (float_to_half(half_to_float(h)) != want) FAIL(h);
        if (float_to_bf16(bf16_to_float(h)) != ((h & 0x7fff) > 0x7f80 ? 0x7fff : h)) FAIL(h);
    }
}

TEST_CASE("half: halfway numbers go to even, their neighbours to the nearer side", "[numeric]") {
    for (uint32_t h = 0; h < 0x7bff; ++h) {  // up to the largest finite one
        const float low = half_to_float(h), high = half_to_float(h + 1);
        const float middle = float((double(low) + double(high)) / 2);  // exact
        if (float_to_half(middle) != (h & 1 ? h + 1 : h)) FAIL(h);
        if (float_to_half(std::nextafter(middle, -1.0f)) != h) FAIL(h);
        if (float_to_half(std::nextafter(middle, 1e9f)) != h + 1) FAIL(h);
        if (float_to_half(-middle) != (0x8000 | (h & 1 ? h + 1 : h))) FAIL(h);
    }
    CHECK(float_to_half(65519.996f) == 0x7bff);
    CHECK(float_to_half(65520.0f) == 0x7c00);
    CHECK(float_to_half(-INFINITY) == 0xfc00);
    CHECK(float_to_half(float_of(0xffc12345)) == 0x7fff);
}

TEST_CASE("half: the fast conversion agrees with the general one", "[numeric]") {
    std::mt19937 random(1);
    for (int i = 0; i < 300000; ++i) {
        // Half of them with exponents that matter to a half.
        uint32_t bits = uint32_t(random());
        if (i & 1) bits = (bits & 0x807fffff) | (100 + bits % 45) << 23;
        const float x = float_of(bits);
        if (float_to_half(x) != float_to_half(x, Rounding::kNearestEven)) FAIL(std::hex << bits);
        if (float_to_bf16(x) != float_to_bf16(x, Rounding::kNearestEven)) FAIL(std::hex << bits);
    }
}

TEST_CASE("half: directed rounding brackets the number", "[numeric]") {
    std::mt19937 random(2);
    for (int i = 0; i < 100000; ++i) {
        uint32_t bits = uint32_t(random());
        bits = (bits & 0x807fffff) | (100 + bits % 45) << 23;
        const float x = float_of(bits);
        if (std::fabs(x) >= 65504) continue;
        const float down = half_to_float(float_to_half(x, Rounding::kDown));
        const float up = half_to_float(float_to_half(x, Rounding::kUp));
        const float zero = half_to_float(float_to_half(x, Rounding::kZero));
        if (!(down <= x && x <= up)) FAIL(x);
        if (zero != (x < 0 ? up : down)) FAIL(x);
        const uint32_t steps = float_to_half(std::fabs(up)) - float_to_half(std::fabs(down));
        if (down != up && steps != 1 && steps != ~0u) FAIL(x);
    }
}

TEST_CASE("rounding: overflow gives infinity or the largest number as the mode says", "[numeric]") {
    struct {
        Rounding rounding;
        uint16_t positive, negative;
    } const cases[] = {
        {Rounding::kNearestEven, 0x7c00, 0xfc00},
        {Rounding::kZero, 0x7bff, 0xfbff},
        {Rounding::kDown, 0x7bff, 0xfc00},
        {Rounding::kUp, 0x7c00, 0xfbff},
        {Rounding::kNearestAway, 0x7c00, 0xfc00},
    };
    for (const auto& c : cases) {
        CAPTURE(int(c.rounding));
        CHECK(float_to_half(1e6f, c.rounding) == c.positive);
        CHECK(float_to_half(-1e6f, c.rounding) == c.negative);
        const auto exact = exact_from_float(bits_of(1e6f), kFloatFormat);
        CHECK(to_float_bits(exact, kHalfFormat, c.rounding, true) == 0x7bff);
    }
}

TEST_CASE("rounding: a double goes to half with one rounding only", "[numeric]") {
    // Just above the middle of 1 and the next half; rounded to f32 first it would be the middle.
    const double x = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
    CHECK(double_to_half(x, Rounding::kNearestEven) == 0x3c01);
    CHECK(float_to_half(float(x)) == 0x3c00);
}

TEST_CASE("tf32: ties go away from zero and low bits are cleared", "[numeric]") {
    const auto convert = [](uint32_t bits) {
        return uint32_t(to_float_bits(
            exact_from_float(bits, kFloatFormat), kTf32Format, Rounding::kNearestAway));
    };
    CHECK(convert(0x3f800fff) == 0x3f800000);
    CHECK(convert(0x3f801000) == 0x3f802000);
    CHECK(convert(0xbf801000) == 0xbf802000);
    CHECK(convert(0x3f803000) == 0x3f804000);
    CHECK(convert(0x7f7fffff) == 0x7f800000);
    CHECK(convert(0x00000fff) == 0x00000000);
    CHECK(convert(0x00001000) == 0x00002000);
    CHECK(convert(0x7fc00000) == 0x7fffffff);
}

TEST_CASE("exact numbers: every format's encoding is read and written unchanged", "[numeric]") {
    std::mt19937_64 random(3);
    for (int i = 0; i < 100000; ++i) {
        const uint64_t bits = random();
        const double d = bits_as<double>(bits);
        if (!std::isnan(d) &&
            to_float_bits(exact_from_float(bits, kDoubleFormat), kDoubleFormat, Rounding::kZero) !=
                bits)
            FAIL(std::hex << bits);
        const uint32_t word = uint32_t(bits);
        if (!std::isnan(float_of(word)) &&
            to_float_bits(exact_from_float(word, kFloatFormat), kFloatFormat, Rounding::kUp) !=
                word)
            FAIL(std::hex << word);
    }
}

TEST_CASE("exact numbers: integers keep all 64 bits", "[numeric]") {
    const auto up = [](uint64_t x) {
        return to_float_bits(exact_from_unsigned(x), kFloatFormat, Rounding::kUp);
    };
    CHECK(up(0x8000000000000001) == bits_of(0x1.000002p63f));
    CHECK(up(0xffffffffffffffff) == bits_of(0x1p64f));
    CHECK(to_float_bits(exact_from_signed(INT64_MIN), kDoubleFormat, Rounding::kZero) ==
          bits_as<uint64_t>(-0x1p63));
    CHECK(to_float_bits(exact_from_signed(-7), kHalfFormat, Rounding::kZero) == 0xc700);
}

TEST_CASE("to integer: clamps at both ends of every width", "[numeric]") {
    const auto convert = [](double x, unsigned bits, bool is_signed) {
        return to_integer_bits(exact_from_float(bits_as<uint64_t>(x), kDoubleFormat),
                               bits,
                               is_signed,
                               Rounding::kZero,
                               77);
    };
    for (unsigned bits = 8; bits <= 64; bits *= 2) {
        CAPTURE(bits);
        const uint64_t top = ~uint64_t(0) >> (64 - bits);
        CHECK(convert(1e30, bits, false) == top);
        CHECK(convert(-1.0, bits, false) == 0);
        CHECK(convert(INFINITY, bits, true) == top >> 1);
        CHECK(convert(-1e30, bits, true) == uint64_t(0) - (top >> 1) - 1);
        CHECK(convert(-2.9, bits, true) == uint64_t(-2));
        CHECK(convert(NAN, bits, true) == 77);
        CHECK(convert(0.0, bits, true) == 0);
    }
    CHECK(convert(0x1p63, 64, false) == uint64_t(1) << 63);
    CHECK(convert(-0x1p63, 64, true) == uint64_t(1) << 63);
}

TEST_CASE("to integer: each rounding of the same fractions", "[numeric]") {
    const double values[] = {-2.5, -1.5, -0.5, -0.25, 0.25, 0.5, 1.5, 2.5};
    struct {
        Rounding rounding;
        int want[8];
    } const cases[] = {
        {Rounding::kNearestEven, {-2, -2, 0, 0, 0, 0, 2, 2}},
        {Rounding::kZero, {-2, -1, 0, 0, 0, 0, 1, 2}},
        {Rounding::kDown, {-3, -2, -1, -1, 0, 0, 1, 2}},
        {Rounding::kUp, {-2, -1, 0, 0, 1, 1, 2, 3}},
        {Rounding::kNearestAway, {-3, -2, -1, 0, 0, 1, 2, 3}},
    };
    for (const auto& c : cases)
        for (int i = 0; i < 8; ++i) {
            CAPTURE(int(c.rounding), values[i]);
            const auto exact = exact_from_float(bits_as<uint64_t>(values[i]), kDoubleFormat);
            CHECK(int64_t(to_integer_bits(exact, 32, true, c.rounding, 0)) == c.want[i]);
            const auto integral = round_to_integral(exact, c.rounding);
            CHECK(bits_as<double>(to_float_bits(integral, kDoubleFormat, Rounding::kZero)) ==
                  c.want[i]);
        }
}
