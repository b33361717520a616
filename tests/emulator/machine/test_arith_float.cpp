// SPDX-License-Identifier: MIT
// f32 and f64 arithmetic: rounding modes, NaN, signed zeros, subnormals, saturation,
// approximations.
#include <cmath>
#include <random>

#include "arith_lab.h"

using namespace lab;

namespace {
constexpr uint64_t kNan = 0x7fffffff;  // the canonical one
constexpr uint64_t kQuiet64 = 0xfff8000000000000;
constexpr uint64_t kTiny = 0x00000001, kLargestTiny = 0x007fffff, kSmallestNormal = 0x00800000;
constexpr uint64_t kInf = 0x7f800000, kMinusInf = 0xff800000, kMinusZero = 0x80000000;
constexpr uint64_t kMax = 0x7f7fffff;

// Floats of every size and sign, few of them special.
uint32_t any_float(std::mt19937& random) {
    const uint32_t special[] = {0,
                                0x80000000,
                                1,
                                0x807fffff,
                                0x00800000,
                                0x3f800000,
                                0xbf800000,
                                0x7f7fffff,
                                0x7f800000,
                                0xff800000,
                                0x7fc00000,
                                0xffa00001};
    return random() % 4 == 0 ? special[random() % 12] : uint32_t(random());
}
// Magnitudes between 2^-20 and 2^20, so that products and sums are exact in double.
uint32_t moderate(std::mt19937& random) {
    return (uint32_t(random()) & 0x807fffff) | uint32_t(107 + random() % 40) << 23;
}
machine::ExactNumber exact(double x) {
    return machine::exact_from_float(bits(x), machine::kDoubleFormat);
}
}  // namespace

TEST_CASE("float arithmetic: canonical NaN, infinities and zeros", "[machine][arith]") {
    check({
        {"add.f32", {kInf, kMinusInf}, kNan},
        {"add.f32", {0x7fa00001, 0}, kNan},
        {"sub.f32", {0xffc12345, 0}, kNan},
        {"mul.f32", {kInf, 0}, kNan},
        {"fma.rn.f32", {0, kInf, 0}, kNan},
        {"div.rn.f32", {0, kMinusZero}, kNan},
        {"sqrt.rn.f32", {bits(-1.0f)}, kNan},
        {"sqrt.rn.f32", {kMinusZero}, kMinusZero},
        {"rcp.rn.f32", {kMinusZero}, kMinusInf},
        {"div.rn.f32", {bits(1.0f), kMinusZero}, kMinusInf},
        {"add.f32", {kMinusZero, kMinusZero}, kMinusZero},
        {"add.f32", {kMinusZero, 0}, 0},
        {"sub.f32", {bits(1.0f), bits(1.0f)}, 0},
        {"add.rm.f32", {bits(1.0f), bits(-1.0f)}, kMinusZero},
        {"mul.f32", {kMinusZero, bits(3.0f)}, kMinusZero},
        {"add.f64", {bits(INFINITY * 1.0), bits(-INFINITY * 1.0)}, kQuiet64},
        {"add.f64", {0x7ff8000000000123, 0}, 0x7ff8000000000123},
        {"neg.f32", {0}, kMinusZero},
        {"neg.f64", {bits(2.5)}, bits(-2.5)},
        {"abs.f32", {kMinusInf}, kInf},
        {"abs.f64", {bits(-0.0)}, 0},
        {"copysign.f32", {kMinusZero, bits(3.0f)}, bits(-3.0f)},
        {"copysign.f64", {bits(1.0), bits(-3.0)}, bits(3.0)},
    });
}

TEST_CASE("float arithmetic: a product and a sum are two roundings, fma is one",
          "[machine][arith]") {
    const uint64_t a = bits(1.0f + 0x1p-23f), b = bits(1.0f - 0x1p-23f);
    check({
        {"mul.f32", {a, b}, bits(1.0f)},
        {"fma.rn.f32", {a, b, bits(-1.0f)}, bits(-0x1p-46f)},
        {"mad.rn.f32", {a, b, bits(-1.0f)}, bits(-0x1p-46f)},
        {"fma.rn.f64", {bits(1.0 + 0x1p-52), bits(1.0 - 0x1p-52), bits(-1.0)}, bits(-0x1p-104)},
        // Rounding the exact sum in double first and then to f32 would give 1 + 2^-23.
        {"fma.rn.f32", {bits(0x1.000002p0f), bits(0x1.0p0f), bits(-0x1p-60f)}, bits(0x1.000002p0f)},
        {"fma.rn.f32", {bits(0x1.000002p-24f), bits(1.0f), bits(1.0f)}, bits(0x1.000002p0f)},
    });
}

TEST_CASE("rounding: each mode on sums and quotients that are not exact", "[machine][arith]") {
    const uint64_t one = bits(1.0f), up = one + 1, tiny = bits(0x1p-40f), minus = bits(-1.0f);
    check({
        {"add.rn.f32", {one, tiny}, one},
        {"add.rz.f32", {one, tiny}, one},
        {"add.rm.f32", {one, tiny}, one},
        {"add.rp.f32", {one, tiny}, up},
        {"sub.rz.f32", {minus, tiny}, minus},
        {"sub.rm.f32", {minus, tiny}, minus + 1},
        {"sub.rp.f32", {minus, tiny}, minus},
        {"sub.rz.f32", {one, tiny}, one - 1},
        {"div.rn.f32", {one, bits(3.0f)}, 0x3eaaaaab},
        {"div.rz.f32", {one, bits(3.0f)}, 0x3eaaaaaa},
        {"div.rm.f32", {minus, bits(3.0f)}, 0xbeaaaaab},
        {"div.rp.f32", {minus, bits(3.0f)}, 0xbeaaaaaa},
        {"rcp.rp.f32", {bits(3.0f)}, 0x3eaaaaab},
        {"rcp.rz.f32", {bits(3.0f)}, 0x3eaaaaaa},
        {"sqrt.rn.f32", {bits(2.0f)}, 0x3fb504f3},
        {"sqrt.rp.f32", {bits(2.0f)}, 0x3fb504f4},
        {"sqrt.rm.f32", {bits(2.0f)}, 0x3fb504f3},
        {"mul.rp.f32", {kMax, bits(2.0f)}, kInf},
        {"mul.rz.f32", {kMax, bits(2.0f)}, kMax},
        {"mul.rm.f32", {kMax, bits(-2.0f)}, kMinusInf},
        {"add.rz.f64", {bits(1.0), bits(0x1p-80)}, bits(1.0)},
        {"add.rp.f64", {bits(1.0), bits(0x1p-80)}, bits(1.0) + 1},
        {"fma.rm.f64", {bits(1.0), bits(1.0), bits(-0x1p-80)}, bits(1.0) - 1},
        {"div.rz.f64", {bits(2.0), bits(3.0)}, 0x3fe5555555555555},
        {"div.rp.f64", {bits(2.0), bits(3.0)}, 0x3fe5555555555556},
        {"sqrt.rp.f64", {bits(2.0)}, bits(std::sqrt(2.0)) + 0},
        {"sqrt.rz.f64", {bits(2.0)}, bits(std::sqrt(2.0)) - 1},
        {"add.rz.sat.f32", {one, one}, one},
        {"mul.rz.ftz.f32", {bits(0x1p-126f), bits(0x1.fffffep-1f)}, 0},
    });
}

TEST_CASE("rounding: random f32 sums, products and fmas in all modes match exact arithmetic",
          "[machine][arith]") {
    std::mt19937 random(11);
    struct {
        const char* name;
        machine::Rounding rounding;
    } const modes[] = {{"rn", machine::Rounding::kNearestEven},
                       {"rz", machine::Rounding::kZero},
                       {"rm", machine::Rounding::kDown},
                       {"rp", machine::Rounding::kUp}};
    for (int round = 0; round < 10; ++round) {
        std::vector<uint64_t> a, b, c;
        for (unsigned i = 0; i < kWarpSize; ++i) {
            a.push_back(moderate(random));
            b.push_back(moderate(random));
            // For the sum a * b + c to be exact in double, c is a short number of the same size.
            c.push_back(bits(float(double(as_float(a[i])) * as_float(b[i]))) & 0xfff00000);
        }
        for (const auto& mode : modes) {
            const std::string suffix = std::string(".") + mode.name + ".f32";
            const Outcome sum = run({.mnemonic = "add" + suffix, .sources = {a, b}});
            const Outcome difference = run({.mnemonic = "sub" + suffix, .sources = {a, b}});
            const Outcome product = run({.mnemonic = "mul" + suffix, .sources = {a, b}});
            const Outcome fused = run({.mnemonic = "fma" + suffix, .sources = {a, b, c}});
            for (unsigned i = 0; i < kWarpSize; ++i) {
                const double x = as_float(a[i]), y = as_float(b[i]), z = as_float(c[i]);
                const auto rounded = [&](double v) {
                    return machine::to_float_bits(exact(v), machine::kFloatFormat, mode.rounding);
                };
                // 24-bit numbers no further apart than 2^40 may need 64 bits: skip those sums.
                const bool fits = std::fabs(std::log2(std::fabs(x / y))) < 28;
                if (fits && x + y != 0 && sum.dst[i] != rounded(x + y)) FAIL("add" << suffix);
                if (fits && x - y != 0 && difference.dst[i] != rounded(x - y))
                    FAIL("sub" << suffix);
                if (product.dst[i] != rounded(x * y)) FAIL("mul" << suffix);
                if (x * y + z != 0 && fused.dst[i] != rounded(x * y + z)) FAIL("fma" << suffix);
            }
        }
    }
}

TEST_CASE("ftz: subnormal operands and results become zeros with their sign", "[machine][arith]") {
    check({
        {"add.f32", {kTiny, kTiny}, 2},
        {"add.ftz.f32", {kTiny, kTiny}, 0},
        {"add.ftz.f32", {0x80000001, 0x80000001}, kMinusZero},
        {"mul.ftz.f32", {bits(0x1p-100f), bits(-0x1p-30f)}, kMinusZero},
        {"mul.f32", {bits(0x1p-100f), bits(-0x1p-30f)}, bits(-0x1p-130f)},
        {"sub.ftz.f32", {bits(0x1.8p-126f), bits(0x1p-126f)}, 0},
        {"fma.rn.ftz.f32", {kLargestTiny, bits(1.0f), bits(2.0f)}, bits(2.0f)},
        {"fma.rn.f32", {kLargestTiny, bits(0x1p126f), bits(0.0f)}, bits(0x1.fffffcp-1f)},
        {"fma.rn.ftz.f32", {kLargestTiny, bits(0x1p126f), bits(0.0f)}, 0},
        {"abs.ftz.f32", {0x80000001}, 0},
        {"neg.ftz.f32", {kTiny}, kMinusZero},
        {"div.rn.ftz.f32", {bits(1.0f), kTiny}, kInf},
        {"rcp.rn.ftz.f32", {0x80000001}, kMinusInf},
        {"sqrt.rn.ftz.f32", {0x80000001}, kMinusZero},
        {"sqrt.rn.f32", {kTiny}, bits(std::sqrt(as_float(kTiny)))},
        {"min.ftz.f32", {kTiny, bits(1.0f)}, 0},
        {"max.f32", {kTiny, 0}, kTiny},
        {"add.ftz.f32", {kSmallestNormal, 0}, kSmallestNormal},
    });
}

TEST_CASE("sat: clamps to [0, 1], and NaN becomes 0", "[machine][arith]") {
    check({
        {"add.sat.f32", {bits(0.75f), bits(0.5f)}, bits(1.0f)},
        {"add.sat.f32", {bits(-0.75f), bits(0.5f)}, 0},
        {"mul.sat.f32", {bits(-1.0f), 0}, 0},
        {"add.sat.f32", {kInf, kMinusInf}, 0},
        {"fma.rn.sat.f32", {bits(0.5f), bits(0.5f), bits(0.25f)}, bits(0.5f)},
        {"fma.rn.ftz.sat.f32", {kTiny, bits(0.5f), bits(3.0f)}, bits(1.0f)},
        {"add.ftz.sat.f32", {kTiny, kTiny}, 0},
    });
}

TEST_CASE("min and max: the number beats NaN, and -0 is below +0", "[machine][arith]") {
    const uint64_t one = bits(1.0f), two = bits(2.0f), nan = 0x7fc00001;
    check({
        {"min.f32", {one, two}, one},
        {"max.f32", {one, two}, two},
        {"min.f32", {nan, two}, two},
        {"max.f32", {one, nan}, one},
        {"min.f32", {nan, 0xffc00000}, kNan},
        {"min.f32", {kMinusZero, 0}, kMinusZero},
        {"min.f32", {0, kMinusZero}, kMinusZero},
        {"max.f32", {kMinusZero, 0}, 0},
        {"max.f32", {0, kMinusZero}, 0},
        {"max.f32", {kMinusInf, bits(-1.0f)}, bits(-1.0f)},
        {"min.NaN.f32", {nan, two}, kNan},
        {"max.NaN.f32", {one, nan}, kNan},
        {"max.NaN.f32", {one, two}, two},
        {"min.xorsign.abs.f32", {bits(-1.0f), two}, bits(-1.0f)},
        {"max.xorsign.abs.f32", {bits(-1.0f), bits(-2.0f)}, two},
        {"max.f32", {one, two, bits(3.0f)}, bits(3.0f)},
        {"min.abs.f32", {bits(-5.0f), bits(-2.0f), bits(3.0f)}, two},
        {"min.f64", {bits(1.0), bits(2.0)}, bits(1.0)},
        {"max.f64", {0x7ff8000000000000, bits(2.0)}, bits(2.0)},
        {"min.f64", {bits(0.0), bits(-0.0)}, bits(-0.0)},
        {"max.f64", {bits(-0.0), bits(0.0)}, bits(0.0)},
    });
}

TEST_CASE("testp: every class of number", "[machine][arith]") {
    struct {
        uint64_t f32, f64;
        bool finite, infinite, number, normal, subnormal;
    } const cases[] = {
        {bits(1.0f), bits(1.0), true, false, true, true, false},
        {kMinusZero, bits(-0.0), true, false, true, true, false},
        {kTiny, 1, true, false, true, false, true},
        {0x807fffff, 0x800fffffffffffff, true, false, true, false, true},
        {kSmallestNormal, 0x0010000000000000, true, false, true, true, false},
        {kInf, 0x7ff0000000000000, false, true, true, false, false},
        {0xffc00000, 0x7ff0000000000001, false, false, false, false, false},
    };
    for (const auto& c : cases) {
        check({{"testp.finite.f32", {c.f32}, c.finite},
               {"testp.infinite.f32", {c.f32}, c.infinite},
               {"testp.number.f32", {c.f32}, c.number},
               {"testp.notanumber.f32", {c.f32}, !c.number},
               {"testp.normal.f32", {c.f32}, c.normal},
               {"testp.subnormal.f32", {c.f32}, c.subnormal},
               {"testp.finite.f64", {c.f64}, c.finite},
               {"testp.infinite.f64", {c.f64}, c.infinite},
               {"testp.number.f64", {c.f64}, c.number},
               {"testp.notanumber.f64", {c.f64}, !c.number},
               {"testp.normal.f64", {c.f64}, c.normal},
               {"testp.subnormal.f64", {c.f64}, c.subnormal}});
    }
}

TEST_CASE("approximations: special values", "[machine][arith]") {
    const uint64_t one = bits(1.0f), nan = 0x7fc00000;
    check({
        {"rcp.approx.f32", {kMinusInf}, kMinusZero},
        {"rcp.approx.f32", {0}, kInf},
        {"rcp.approx.ftz.f32", {0x80000001}, kMinusInf},
        {"rcp.approx.f32", {bits(4.0f)}, bits(0.25f)},
        {"sqrt.approx.f32", {kMinusZero}, kMinusZero},
        {"sqrt.approx.f32", {bits(-1.0f)}, kNan},
        {"sqrt.approx.ftz.f32", {0x80000001}, kMinusZero},
        {"sqrt.approx.f32", {kInf}, kInf},
        {"rsqrt.approx.f32", {bits(4.0f)}, bits(0.5f)},
        {"rsqrt.approx.f32", {kMinusZero}, kMinusInf},
        {"rsqrt.approx.f32", {0}, kInf},
        {"rsqrt.approx.f32", {bits(-2.0f)}, kNan},
        {"rsqrt.approx.f32", {kInf}, 0},
        {"rsqrt.approx.ftz.f32", {kTiny}, kInf},
        {"ex2.approx.f32", {kMinusInf}, 0},
        {"ex2.approx.f32", {kInf}, kInf},
        {"ex2.approx.f32", {kMinusZero}, one},
        {"ex2.approx.f32", {kTiny}, one},
        {"ex2.approx.f32", {bits(10.0f)}, bits(1024.0f)},
        {"ex2.approx.f32", {bits(-140.0f)}, bits(0x1p-140f)},
        {"ex2.approx.ftz.f32", {bits(-140.0f)}, 0},
        {"ex2.approx.f32", {bits(-1000.0f)}, 0},
        {"ex2.approx.f32", {bits(128.0f)}, kInf},
        {"ex2.approx.f32", {nan}, kNan},
        {"lg2.approx.f32", {0}, kMinusInf},
        {"lg2.approx.f32", {kMinusZero}, kMinusInf},
        {"lg2.approx.f32", {bits(-1.0f)}, kNan},
        {"lg2.approx.f32", {kInf}, kInf},
        {"lg2.approx.f32", {one}, 0},
        {"lg2.approx.f32", {bits(0x1p-140f)}, bits(-140.0f)},
        {"lg2.approx.ftz.f32", {bits(0x1p-140f)}, kMinusInf},
        {"lg2.approx.f32", {nan}, kNan},
        {"sin.approx.f32", {0}, 0},
        {"sin.approx.f32", {kMinusZero}, kMinusZero},
        {"sin.approx.f32", {kInf}, kNan},
        {"cos.approx.f32", {0}, one},
        {"cos.approx.f32", {kMinusInf}, kNan},
        {"cos.approx.ftz.f32", {kTiny}, one},
        {"tanh.approx.f32", {kInf}, one},
        {"tanh.approx.f32", {kMinusInf}, bits(-1.0f)},
        {"tanh.approx.f32", {kMinusZero}, kMinusZero},
        {"tanh.approx.f32", {kTiny}, kTiny},
        {"tanh.approx.f32", {nan}, kNan},
    });
}

TEST_CASE("div.approx: a divisor beyond 2^126 gives zero, as documented", "[machine][arith]") {
    check({
        {"div.approx.f32", {bits(6.0f), bits(3.0f)}, bits(2.0f)},
        {"div.approx.f32", {bits(0x1p127f), bits(0x1p127f)}, 0},
        {"div.approx.f32", {bits(0x1p127f), bits(-0x1p127f)}, kMinusZero},
        {"div.approx.f32", {kInf, bits(0x1p127f)}, kNan},
        {"div.approx.f32", {bits(0x1p127f), bits(0x1p126f)}, bits(2.0f)},
        {"div.approx.f32", {bits(1.0f), kInf}, 0},
        {"div.approx.ftz.f32", {bits(0x1p-100f), bits(0x1p100f)}, 0},
        {"div.approx.ftz.f32", {bits(1.0f), kTiny}, kInf},
        {"div.full.f32", {bits(0x1p127f), bits(0x1p127f)}, bits(1.0f)},
        {"div.full.ftz.f32", {kTiny, bits(1.0f)}, 0},
    });
}

TEST_CASE("rcp and rsqrt.approx.ftz.f64: only the upper words count", "[machine][arith]") {
    check({
        {"rcp.approx.ftz.f64", {bits(4.0)}, bits(0.25)},
        {"rcp.approx.ftz.f64", {bits(4.0) | 0xffffffff}, bits(0.25)},
        {"rcp.approx.ftz.f64", {bits(3.0)}, bits(1.0 / 3) & 0xffffffff00000000},
        {"rcp.approx.ftz.f64", {0x000fffffffffffff}, 0x7ff0000000000000},
        {"rcp.approx.ftz.f64", {bits(-0.0)}, 0xfff0000000000000},
        {"rcp.approx.ftz.f64", {0x7ff8000000000001}, 0x7fffffff00000000},
        {"rcp.approx.ftz.f64", {bits(0x1p1023)}, 0},  // the result would be subnormal
        {"rsqrt.approx.ftz.f64", {bits(4.0) | 0xffff}, bits(0.5)},
        {"rsqrt.approx.ftz.f64", {bits(-4.0)}, 0x7fffffff00000000},
        {"rsqrt.approx.ftz.f64", {bits(-0.0)}, 0xfff0000000000000},
        {"rsqrt.approx.f64", {bits(2.0)}, bits(1.0 / std::sqrt(2.0))},
        {"rsqrt.approx.f64", {1}, bits(1.0 / std::sqrt(as_double(1)))},
    });
}

TEST_CASE("approximations: errors stay within PTX's bounds", "[machine][arith]") {
    std::mt19937 random(12);
    const auto sweep =
        [&](const char* mnemonic, double low, double high, auto&& reference, auto&& bound) {
            std::uniform_real_distribution<float> uniform{float(low), float(high)};
            for (int round = 0; round < 12; ++round) {
                std::vector<uint64_t> x;
                for (unsigned i = 0; i < kWarpSize; ++i) x.push_back(bits(uniform(random)));
                const Outcome outcome = run({.mnemonic = mnemonic, .sources = {x}});
                for (unsigned i = 0; i < kWarpSize; ++i) {
                    const double a = as_float(x[i]), got = as_float(outcome.dst[i]),
                                 want = reference(a);
                    if (!(std::fabs(got - want) <= bound(a, want)))
                        FAIL(mnemonic << " of " << a << ": got " << got << ", want " << want);
                }
            }
        };
    // Two ulp of the result; one is 2^-23 of its power of two.
    const auto ulps = [](double n) {
        return [n](double, double want) { return n * std::ldexp(1.0, std::ilogb(want) - 23); };
    };
    const auto absolute = [](double error) { return [error](double, double) { return error; }; };
    const auto relative = [](double error) {
        return [error](double, double want) { return error * std::fabs(want); };
    };
    const double pi = std::acos(-1.0);
    sweep(
        "ex2.approx.f32", -125, 127, [](double x) { return std::exp2(x); }, ulps(2));
    sweep(
        "lg2.approx.f32", 0.5, 2, [](double x) { return std::log2(x); }, absolute(std::exp2(-22)));
    sweep(
        "lg2.approx.f32", 2, 1e30, [](double x) { return std::log2(x); }, relative(std::exp2(-22)));
    sweep(
        "sin.approx.f32",
        -2 * pi,
        2 * pi,
        [](double x) { return std::sin(x); },
        absolute(std::exp2(-20.5)));
    sweep(
        "cos.approx.f32",
        -2 * pi,
        2 * pi,
        [](double x) { return std::cos(x); },
        absolute(std::exp2(-20.5)));
    sweep(
        "sin.approx.f32",
        -100 * pi,
        100 * pi,
        [](double x) { return std::sin(x); },
        absolute(std::exp2(-14.7)));
    sweep(
        "cos.approx.f32",
        -100 * pi,
        100 * pi,
        [](double x) { return std::cos(x); },
        absolute(std::exp2(-14.7)));
    sweep(
        "tanh.approx.f32", -5, 5, [](double x) { return std::tanh(x); }, relative(std::exp2(-11)));
    sweep(
        "tanh.approx.f32",
        -0.01,
        0.01,
        [](double x) { return std::tanh(x); },
        relative(std::exp2(-11)));
    sweep(
        "rcp.approx.f32", 0.001, 1000, [](double x) { return 1 / x; }, ulps(1));
    sweep(
        "rsqrt.approx.f32",
        0.001,
        1000,
        [](double x) { return 1 / std::sqrt(x); },
        relative(std::exp2(-22.9)));
    sweep(
        "sqrt.approx.f32",
        0.001,
        1000,
        [](double x) { return std::sqrt(x); },
        relative(std::exp2(-23)));
    sweep(
        "sin.approx.f32", -1e30, 1e30, [](double) { return 0.0; }, absolute(1));
}

TEST_CASE("float arithmetic: random operands of all sizes match this processor's scalar arithmetic",
          "[machine][arith]") {
    std::mt19937 random(13);
    for (int round = 0; round < 40; ++round) {
        std::vector<uint64_t> a, b, c;
        for (unsigned i = 0; i < kWarpSize; ++i) {
            a.push_back(any_float(random));
            b.push_back(any_float(random));
            c.push_back(any_float(random));
        }
        const Outcome sum = run({.mnemonic = "add.f32", .sources = {a, b}});
        const Outcome product = run({.mnemonic = "mul.rn.f32", .sources = {a, b}});
        const Outcome quotient = run({.mnemonic = "div.rn.f32", .sources = {a, b}});
        const Outcome fused = run({.mnemonic = "fma.rn.f32", .sources = {a, b, c}});
        const Outcome root = run({.mnemonic = "sqrt.rn.f32", .sources = {a}});
        for (unsigned i = 0; i < kWarpSize; ++i) {
            volatile float x = as_float(a[i]), y = as_float(b[i]), z = as_float(c[i]);
            const auto same = [](uint64_t got, float want) {
                return got == (std::isnan(want) ? kNan : bits(want));
            };
            if (!same(sum.dst[i], x + y)) FAIL("add");
            if (!same(product.dst[i], x * y)) FAIL("mul");
            if (!same(quotient.dst[i], x / y)) FAIL("div");
            if (!same(fused.dst[i], std::fma(float(x), float(y), float(z)))) FAIL("fma");
            if (!same(root.dst[i], std::sqrt(float(x)))) FAIL("sqrt");
        }
    }
}
