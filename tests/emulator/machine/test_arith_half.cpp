// SPDX-License-Identifier: MIT
// f16 and bf16 arithmetic, single and packed, against exact arithmetic with one rounding.
#include <cmath>
#include <random>

#include "arith_lab.h"

using namespace lab;

namespace {
constexpr uint64_t kHalfNan = 0x7fff, kHalfInf = 0x7c00;

struct Kind {
    const char* name;
    bool half;
    double value(uint64_t x) const {
        return half ? machine::half_to_float(uint32_t(x)) : machine::bf16_to_float(uint32_t(x));
    }
    uint64_t rounded(machine::ExactNumber x) const {
        return machine::to_float_bits(
            x, half ? machine::kHalfFormat : machine::kBf16Format, machine::Rounding::kNearestEven);
    }
    uint64_t rounded(double x) const {
        return rounded(machine::exact_from_float(bits(x), machine::kDoubleFormat));
    }
};
const Kind kKinds[] = {{"f16", true}, {"bf16", false}};

uint64_t any16(std::mt19937& random) {
    const uint64_t special[] = {0,
                                0x8000,
                                1,
                                0x8001,
                                0x3ff,
                                0x400,
                                0x3c00,
                                0x7bff,
                                0x7c00,
                                0xfc00,
                                0x7e00,
                                0x3f80,
                                0x7f80,
                                0x7f7f,
                                0xff81};
    return random() % 4 ? random() & 0xffff : special[random() % 15];
}

// a * b + c without rounding, as far as a 64-bit magnitude goes; nothing if it does not fit.
std::optional<machine::ExactNumber> exact_fma(double a, double b, double c) {
    using machine::ExactNumber;
    const auto number = [](double x) {
        return machine::exact_from_float(bits(x), machine::kDoubleFormat);
    };
    ExactNumber x = number(a * b), y = number(c);  // 16-bit factors: the product is exact
    if (x.kind != ExactNumber::Kind::kFinite || y.kind != ExactNumber::Kind::kFinite) return {};
    const auto strip = [](ExactNumber& n) {
        while (n.magnitude && !(n.magnitude & 1)) n.magnitude >>= 1, ++n.exponent;
    };
    strip(x), strip(y);
    if (x.magnitude == 0 || y.magnitude == 0) return {};
    if (x.exponent < y.exponent) std::swap(x, y);
    const int shift = x.exponent - y.exponent;
    if (shift > 62 || int(std::bit_width(x.magnitude)) + shift > 62) {
        // Too far apart: y only matters as "a little more" or "a little less" than x.
        if (int(std::bit_width(y.magnitude)) + 30 > shift) return {};
        if (std::bit_width(x.magnitude) > 24) return {};
        x.magnitude <<= 30, x.exponent -= 30;
        x.magnitude = x.negative == y.negative ? x.magnitude + 1 : x.magnitude - 1;
        return x;
    }
    const int64_t p = int64_t(x.magnitude << shift), q = int64_t(y.magnitude);
    const int64_t sum = (x.negative ? -p : p) + (y.negative ? -q : q);
    if (sum == 0) return {};
    ExactNumber result = machine::exact_from_signed(sum);
    result.exponent = y.exponent;
    return result;
}
}  // namespace

TEST_CASE("half arithmetic: random sums and products are rounded once", "[machine][arith][slow]") {
    std::mt19937 random(21);
    for (const Kind& kind : kKinds)
        for (int round = 0; round < 60; ++round) {
            std::vector<uint64_t> a, b;
            for (unsigned i = 0; i < kWarpSize; ++i)
                a.push_back(any16(random)), b.push_back(any16(random));
            const std::string suffix = std::string(".rn.") + kind.name;
            const Outcome sum = run({.mnemonic = "add" + suffix, .sources = {a, b}});
            const Outcome difference = run({.mnemonic = "sub" + suffix, .sources = {a, b}});
            const Outcome product = run({.mnemonic = "mul" + suffix, .sources = {a, b}});
            for (unsigned i = 0; i < kWarpSize; ++i) {
                const double x = kind.value(a[i]), y = kind.value(b[i]);
                // bf16 sums may not be exact in double; then their size decides alone.
                if (sum.dst[i] != kind.rounded(x + y)) FAIL(kind.name << " " << x << " + " << y);
                if (difference.dst[i] != kind.rounded(x - y)) FAIL(kind.name << x << " - " << y);
                if (product.dst[i] != kind.rounded(x * y)) FAIL(kind.name << x << " * " << y);
            }
        }
}

TEST_CASE("half arithmetic: random fmas are rounded once", "[machine][arith][slow]") {
    std::mt19937 random(22);
    for (const Kind& kind : kKinds)
        for (int round = 0; round < 200; ++round) {
            std::vector<uint64_t> a, b, c;
            for (unsigned i = 0; i < kWarpSize; ++i) {
                a.push_back(any16(random)), b.push_back(any16(random));
                // Every other one: far smaller or larger than the product, or near minus the
                // product.
                const double product = kind.value(a[i]) * kind.value(b[i]);
                const int scale = int(random() % 60) - 30;
                c.push_back(i % 2 ? any16(random) : kind.rounded(-std::ldexp(product, scale)));
            }
            const Outcome outcome =
                run({.mnemonic = std::string("fma.rn.") + kind.name, .sources = {a, b, c}});
            for (unsigned i = 0; i < kWarpSize; ++i) {
                const auto want = exact_fma(kind.value(a[i]), kind.value(b[i]), kind.value(c[i]));
                if (want && outcome.dst[i] != kind.rounded(*want))
                    FAIL(kind.name << std::hex << " fma of " << a[i] << " " << b[i] << " " << c[i]
                                   << ": got " << outcome.dst[i] << ", want "
                                   << kind.rounded(*want));
            }
        }
}

TEST_CASE("half arithmetic: a tie that a tiny addend breaks", "[machine][arith]") {
    // 1.0078125 * 1.00390625 style products that end exactly in the middle, plus or minus very
    // little.
    const uint64_t one = 0x3f80, next = 0x3f81;
    const uint64_t tie_a = 0x3f81, tie_b = 0x3f40;  // 1.0078125 * 0.75 = 0.755859375: a tie in bf16
    const double product =
        machine::bf16_to_float(uint32_t(tie_a)) * machine::bf16_to_float(uint32_t(tie_b));
    CHECK(product == 0.755859375);
    const uint64_t low = 0x3f41, high = 0x3f42;             // 0.75390625 and 0.7578125
    const uint64_t tiny = 0x0d80, minus_tiny = 0x8d80;      // about 2^-100
    CHECK(eval("fma.rn.bf16", {tie_a, tie_b, 0}) == high);  // to even
    CHECK(eval("fma.rn.bf16", {tie_a, tie_b, tiny}) == high);
    CHECK(eval("fma.rn.bf16", {tie_a, tie_b, minus_tiny}) == low);
    CHECK(eval("fma.rn.bf16", {one, one, tiny}) == one);
    CHECK(eval("fma.rn.bf16", {next, one, minus_tiny}) == next);
}

TEST_CASE("half arithmetic: special values", "[machine][arith]") {
    check({
        {"add.f16", {0x7bff, 0x7bff}, kHalfInf},
        {"add.f16", {kHalfInf, 0xfc00}, kHalfNan},
        {"add.f16", {0x7d01, 0}, kHalfNan},
        {"add.f16", {1, 1}, 2},
        {"add.ftz.f16", {1, 1}, 0},
        {"add.ftz.f16", {0x8001, 0x8000}, 0x8000},
        {"mul.f16", {0x0400, 0x3800}, 0x0200},
        {"mul.ftz.f16", {0x0400, 0xb800}, 0x8000},
        {"add.sat.f16", {0x3c00, 0x3c00}, 0x3c00},
        {"sub.sat.f16", {0, 0x3c00}, 0},
        {"add.sat.f16", {kHalfInf, 0xfc00}, 0},
        {"fma.rn.relu.f16", {0x3c00, 0xbc00, 0}, 0},
        {"fma.rn.relu.f16", {0x3c00, 0x3c00, 0}, 0x3c00},
        {"fma.rn.relu.f16", {0, kHalfInf, 0}, kHalfNan},
        {"fma.rn.relu.bf16", {0x3f80, 0xbf80, 0}, 0},
        {"neg.f16", {0x7e01}, 0x7fff},
        {"abs.bf16", {0xff81}, 0x7fff},
        {"neg.bf16", {0x3f80}, 0xbf80},
        {"abs.f16", {0xbc00}, 0x3c00},
        {"abs.ftz.f16", {0x83ff}, 0},
        {"add.bf16", {0x7f7f, 0x7f7f}, 0x7f80},
    });
}

TEST_CASE("half min and max: NaN, zeros, xorsign", "[machine][arith]") {
    check({
        {"min.f16", {0x3c00, 0x4000}, 0x3c00},
        {"max.f16", {0xbc00, 0xc000}, 0xbc00},
        {"min.f16", {0x7e00, 0x4000}, 0x4000},
        {"max.f16", {0x4000, 0xfe00}, 0x4000},
        {"min.f16", {0x7e00, 0xfe00}, kHalfNan},
        {"min.NaN.f16", {0x7e00, 0x4000}, kHalfNan},
        {"max.NaN.f16", {0x3c00, 0x4000}, 0x4000},
        {"min.f16", {0, 0x8000}, 0x8000},
        {"max.f16", {0x8000, 0}, 0},
        {"max.f16", {0xfc00, 0xfbff}, 0xfbff},
        {"max.xorsign.abs.f16", {0xbc00, 0x4000}, 0xc000},
        {"min.xorsign.abs.f16", {0xbc00, 0xc000}, 0x3c00},
        {"min.ftz.f16", {1, 0x3c00}, 0},
        {"max.bf16", {0x3f80, 0x4000}, 0x4000},
        {"min.NaN.bf16", {0x3f80, 0x7f81}, kHalfNan},
        {"max.bf16", {0xff80, 0x7f81}, 0xff80},
    });
}

TEST_CASE("packed halves: both elements are computed on their own", "[machine][arith][slow]") {
    const auto pack = [](uint64_t low, uint64_t high) { return low | high << 16; };
    std::mt19937 random(23);
    for (const char* name : {"add",
                             "sub",
                             "mul",
                             "min",
                             "max",
                             "fma.rn",
                             "add.sat",
                             "fma.rn.relu",
                             "max.NaN",
                             "min.xorsign.abs"})
        for (const char* type : {"f16", "bf16"}) {
            const std::string single = std::string(name) + "." + type;
            const unsigned sources = std::string(name).substr(0, 3) == "fma" ? 3 : 2;
            for (int round = 0; round < 6; ++round) {
                Setup low{.mnemonic = single, .sources = {}}, high = low;
                Setup both{.mnemonic = single + "x2", .sources = {}};
                for (unsigned k = 0; k < sources; ++k) {
                    std::vector<uint64_t> x, y, xy;
                    for (unsigned i = 0; i < kWarpSize; ++i) {
                        x.push_back(any16(random)), y.push_back(any16(random));
                        xy.push_back(pack(x[i], y[i]));
                    }
                    low.sources.push_back(x), high.sources.push_back(y), both.sources.push_back(xy);
                }
                const Outcome a = run(low), b = run(high), c = run(both);
                for (unsigned i = 0; i < kWarpSize; ++i)
                    if (c.dst[i] != pack(a.dst[i], b.dst[i])) FAIL(both.mnemonic);
            }
        }
    check({
        {"neg.f16x2", {0x3c00bc00}, 0xbc003c00},
        {"abs.f16x2", {0xbc00bc00}, 0x3c003c00},
        {"ex2.approx.f16x2", {0x40003c00}, 0x44004000},
        {"tanh.approx.f16x2", {0x7c008000}, 0x3c008000},
    });
}

TEST_CASE("half approximations: ex2 and tanh within PTX's bounds", "[machine][arith][slow]") {
    for (uint64_t h = 0; h < 65536; h += 37) {
        const double x = machine::half_to_float(uint32_t(h));
        if (!(std::fabs(x) < 14)) continue;
        const double ex2 = machine::half_to_float(uint32_t(eval("ex2.approx.f16", {h})));
        CHECK(std::fabs(ex2 - std::exp2(x)) <= std::exp2(x) * std::exp2(-9.9) + std::exp2(-24));
        const double tanh = machine::half_to_float(uint32_t(eval("tanh.approx.f16", {h})));
        CHECK(std::fabs(tanh - std::tanh(x)) <=
              std::exp2(-10.987) * std::fabs(std::tanh(x)) + std::exp2(-24));
    }
    check({
        {"ex2.approx.ftz.bf16", {0x0001}, 0x3f80},
        {"ex2.approx.ftz.bf16", {0x4000}, 0x4080},
        {"ex2.approx.ftz.bf16", {0xff80}, 0},
        {"ex2.approx.f16", {0xfc00}, 0},
        {"tanh.approx.bf16", {0xff80}, 0xbf80},
    });
}
