// SPDX-License-Identifier: MIT
// cvt: every pair of types, registers wider than the types, rounding, saturation, NaN, flushing.
#include <cmath>
#include <random>

#include "arith_lab.h"

using namespace lab;

namespace {
void converts(const std::string& mnemonic, uint64_t source, uint64_t want, Type dst = Type::kNone,
              Type src = Type::kNone) {
    INFO(mnemonic << " of " << std::hex << source);
    CHECK(convert(mnemonic, source, dst, src) == want);
}
}  // namespace

TEST_CASE("cvt: integers of every pair of types and registers", "[machine][arith][slow]") {
    struct Int {
        const char* name;
        unsigned bits;
        bool is_signed;
        Type type;
    };
    const Int ints[] = {{"u8", 8, false, Type::kU8},
                        {"s8", 8, true, Type::kS8},
                        {"u16", 16, false, Type::kU16},
                        {"s16", 16, true, Type::kS16},
                        {"u32", 32, false, Type::kU32},
                        {"s32", 32, true, Type::kS32},
                        {"u64", 64, false, Type::kU64},
                        {"s64", 64, true, Type::kS64}};
    const Type registers[] = {Type::kB16, Type::kB32, Type::kB64};
    const auto extend = [](uint64_t x, unsigned bits, bool is_signed) {
        const unsigned rest = 64 - bits;
        return is_signed ? uint64_t(int64_t(x << rest) >> rest) : x << rest >> rest;
    };
    std::mt19937_64 random(31);
    for (const Int& from : ints)
        for (const Int& to : ints)
            for (const Type source : registers)
                for (const Type destination : registers) {
                    const unsigned from_width = 8 * ptx::byte_size(source),
                                   to_width = 8 * ptx::byte_size(destination);
                    if (from_width < from.bits || to_width < to.bits) continue;
                    for (const bool sat : {false, true}) {
                        const std::string mnemonic =
                            std::string("cvt.") + (sat ? "sat." : "") + to.name + "." + from.name;
                        Setup setup{.mnemonic = mnemonic, .sources = {{}}};
                        setup.src_register = source;
                        setup.dst_register = destination;
                        for (unsigned i = 0; i < kWarpSize; ++i)
                            setup.sources[0].push_back(
                                extend(random() >> (random() % 64), from_width, false));
                        setup.sources[0][3] = extend(~uint64_t(0), from_width, false);
                        setup.sources[0][5] = extend(0x8080808080808080, from_width, false);
                        const Outcome outcome = run(setup);
                        for (unsigned i = 0; i < kWarpSize; ++i) {
                            __extension__ typedef __int128 Wide;
                            const uint64_t x =
                                extend(setup.sources[0][i], from.bits, from.is_signed);
                            Wide value = from.is_signed ? Wide(int64_t(x)) : Wide(x);
                            if (sat) {
                                const Wide high = (Wide(1) << (to.bits - to.is_signed)) - 1;
                                const Wide low = to.is_signed ? -high - 1 : Wide(0);
                                value = value > high ? high : value < low ? low : value;
                            }
                            uint64_t want = extend(uint64_t(value), to.bits, to.is_signed);
                            want = extend(want, to_width, false);
                            if (outcome.dst[i] != want)
                                FAIL(mnemonic << " " << from_width << " to " << to_width << std::hex
                                              << ": " << setup.sources[0][i] << " gave "
                                              << outcome.dst[i] << ", want " << want);
                        }
                    }
                }
}

TEST_CASE("cvt: integers to floats in each rounding mode", "[machine][arith]") {
    converts("cvt.rn.f32.s32", uint32_t(-16777217), bits(-16777216.0f));
    converts("cvt.rz.f32.s32", uint32_t(-16777217), bits(-16777216.0f));
    converts("cvt.rm.f32.s32", uint32_t(-16777217), bits(-16777218.0f));
    converts("cvt.rp.f32.s32", 16777217, bits(16777218.0f));
    converts("cvt.rn.f32.u32", 0xffffffff, bits(4294967296.0f));
    converts("cvt.rz.f32.u32", 0xffffffff, bits(4294967040.0f));
    converts("cvt.rn.f32.u64", 0x8000008000000001, bits(0x1.000002p63f));  // just above the middle
    converts("cvt.rn.f32.u64", 0x8000008000000000, bits(0x1p63f));         // a tie, to even
    converts("cvt.rn.f32.s64", uint64_t(-1), bits(-1.0f));
    converts("cvt.rn.f64.u64", ~uint64_t(0), bits(0x1p64));
    converts("cvt.rz.f64.u64", ~uint64_t(0), bits(0x1.fffffffffffffp63));
    converts("cvt.rn.f64.s64", uint64_t(INT64_MIN), bits(-0x1p63));
    converts("cvt.rn.f64.s32", 0x80000000, bits(-2147483648.0));
    converts("cvt.rn.f64.u32", 0x80000000, bits(2147483648.0));
    converts("cvt.rn.f32.u16", 0xffff, bits(65535.0f));
    converts("cvt.rn.f32.s16", 0x8000, bits(-32768.0f));
    converts("cvt.rn.f32.u8", 0xff, bits(255.0f));
    converts("cvt.rn.f32.s8", 0xff80, bits(-128.0f));
    converts("cvt.rn.f32.u8", 0xabcdef12, bits(18.0f), Type::kNone, Type::kB32);
    converts("cvt.rn.f16.s32", uint32_t(-2049), 0xe800);
    converts("cvt.rn.f16.u32", 65520, 0x7c00);
    converts("cvt.rz.f16.u32", 70000, 0x7bff);
    converts("cvt.rn.f16.u64", ~uint64_t(0), 0x7c00);
    converts("cvt.rn.f16.s16", 7, 0x4700);
    converts("cvt.rn.bf16.s32", 257, 0x4380);
    converts("cvt.rn.bf16.u64", 0x8080000000000001, 0x5f01);  // just above the middle of two bf16
    converts("cvt.rn.sat.f32.s32", 7, bits(1.0f));
}

TEST_CASE("cvt: 64-bit integers to f64 round once", "[machine][arith]") {
    std::mt19937_64 random(33);
    for (int round = 0; round < 20; ++round) {
        std::vector<uint64_t> x;
        for (unsigned i = 0; i < kWarpSize; ++i) x.push_back(random() >> (random() % 64));
        for (unsigned i = 0; i < 8; ++i) x[i] |= uint64_t(0x400) << (i % 2);  // ties and near them
        const Outcome s = run({.mnemonic = "cvt.rn.f64.s64", .sources = {x}});
        const Outcome u = run({.mnemonic = "cvt.rn.f64.u64", .sources = {x}});
        for (unsigned i = 0; i < kWarpSize; ++i) {
            CHECK(s.dst[i] == bits(double(int64_t(x[i]))));
            CHECK(u.dst[i] == bits(double(x[i])));
        }
    }
    converts("cvt.rn.f64.s64", 0, 0);
    converts("cvt.rn.f64.u64", 0, 0);
}

TEST_CASE("cvt: floats to integers round, saturate, and give NaN its value", "[machine][arith]") {
    const float nan = NAN, inf = INFINITY;
    for (const float x : {2.5f, -2.5f, 3.5f, 0.3f, -0.3f, 2.7f, -2.7f}) {
        const auto as_int = [](float y) { return uint64_t(uint32_t(int32_t(y))); };
        converts("cvt.rni.s32.f32", bits(x), as_int(std::nearbyint(x)));
        converts("cvt.rzi.s32.f32", bits(x), as_int(std::trunc(x)));
        converts("cvt.rmi.s32.f32", bits(x), as_int(std::floor(x)));
        converts("cvt.rpi.s32.f32", bits(x), as_int(std::ceil(x)));
        converts("cvt.rmi.s64.f64", bits(double(x)), uint64_t(int64_t(std::floor(x))));
        converts("cvt.rpi.s16.f32", bits(x), uint16_t(int16_t(std::ceil(x))));
        converts(
            "cvt.rni.s64.f16",
            machine::float_to_half(x),
            uint64_t(int64_t(std::nearbyint(machine::half_to_float(machine::float_to_half(x))))));
    }
    converts("cvt.rzi.s32.f32", bits(3e9f), 0x7fffffff);
    converts("cvt.rzi.s32.f32", bits(-3e9f), 0x80000000);
    converts("cvt.rzi.s32.f32", bits(-2147483648.0f), 0x80000000);
    converts("cvt.rzi.s32.f32", bits(2147483520.0f), 2147483520);
    converts("cvt.rzi.s32.f32", bits(nan), 0);
    converts("cvt.rzi.u32.f32", bits(nan), 0);
    converts("cvt.rzi.u32.f32", bits(-1.0f), 0);
    converts("cvt.rzi.u32.f32", bits(3e9f), 3000000000u);
    converts("cvt.rzi.u32.f32", bits(4294967040.0f), 4294967040u);
    converts("cvt.rzi.u32.f32", bits(inf), 0xffffffff);
    converts("cvt.rzi.u32.f32", bits(2147483648.0f), 0x80000000);
    converts("cvt.rzi.s64.f32", bits(-inf), 0x8000000000000000);
    converts("cvt.rzi.s64.f32", bits(nan), 0x8000000000000000);
    converts("cvt.rzi.u64.f32", bits(nan), 0x8000000000000000);
    converts("cvt.rzi.u64.f32", bits(1e19f), uint64_t(1e19f));
    converts("cvt.rzi.u64.f32", bits(2e19f), ~uint64_t(0));
    converts("cvt.rzi.s32.f64", bits(double(nan)), 0x80000000);
    converts("cvt.rzi.u32.f64", bits(double(nan)), 0x80000000);
    converts("cvt.rzi.s32.f64", bits(2147483647.9), 0x7fffffff);
    converts("cvt.rni.s32.f64", bits(2147483647.9), 0x7fffffff);
    converts("cvt.rzi.u32.f64", bits(4294967295.9), 0xffffffff);
    converts("cvt.rzi.s64.f64", bits(-9.3e18), 0x8000000000000000);
    converts("cvt.rzi.s64.f64", bits(9.2e18), uint64_t(9200000000000000000));
    converts("cvt.rzi.u64.f64", bits(1.8e19), uint64_t(18000000000000000000u));
    converts("cvt.rzi.u8.f32", bits(300.0f), 0xff);
    converts("cvt.rzi.s8.f32", bits(-300.0f), 0xff80);  // extended to the 16-bit register
    converts("cvt.rzi.s8.f32", bits(-300.0f), 0xffffff80, Type::kB32);
    converts("cvt.rzi.u16.f32", bits(nan), 0);
    converts("cvt.rzi.s16.f64", bits(double(nan)), 0x8000);
    converts("cvt.rzi.s32.f16", 0x7c00, 0x7fffffff);
    converts("cvt.rzi.u32.f16", 0xbc00, 0);
    converts("cvt.rzi.s32.f16", 0x7e00, 0);
    converts("cvt.rpi.s32.f32", 1, 1);
    converts("cvt.rpi.ftz.s32.f32", 1, 0);
    converts("cvt.rmi.s32.f32", 0x80000001, 0xffffffff);
    converts("cvt.rmi.ftz.s32.f32", 0x80000001, 0);
    converts("cvt.rzi.ftz.s32.f32", bits(1.9f), 1);
    converts("cvt.rni.ftz.s32.f32", bits(1.5f), 2);
}

TEST_CASE("cvt: floats to integers agree with exact arithmetic on random numbers",
          "[machine][arith]") {
    std::mt19937_64 random(32);
    struct {
        const char* name;
        machine::Rounding rounding;
    } const modes[] = {{"rni", machine::Rounding::kNearestEven},
                       {"rzi", machine::Rounding::kZero},
                       {"rmi", machine::Rounding::kDown},
                       {"rpi", machine::Rounding::kUp}};
    for (const auto& mode : modes)
        for (const char* to : {"s32", "u32", "s64", "u64"})
            for (const bool wide : {false, true}) {
                Setup setup{.mnemonic = std::string("cvt.") + mode.name + "." + to +
                                        (wide ? ".f64" : ".f32"),
                            .sources = {{}}};
                // Sizes around 1 and around the limits.
                for (unsigned i = 0; i < kWarpSize; ++i) {
                    const double x =
                        std::ldexp(double(int64_t(random())), -63 + int(random() % 68));
                    setup.sources[0].push_back(wide ? bits(x) : bits(float(x)));
                }
                const Outcome outcome = run(setup);
                const unsigned width = to[1] == '3' ? 32 : 64;
                const bool is_signed = to[0] == 's';
                for (unsigned i = 0; i < kWarpSize; ++i) {
                    const auto exact = machine::exact_from_float(
                        setup.sources[0][i], wide ? machine::kDoubleFormat : machine::kFloatFormat);
                    const uint64_t want =
                        machine::to_integer_bits(exact, width, is_signed, mode.rounding, 0) &
                        (~uint64_t(0) >> (64 - width));
                    if (outcome.dst[i] != want)
                        FAIL(setup.mnemonic << std::hex << " of " << setup.sources[0][i] << " gave "
                                            << outcome.dst[i] << ", want " << want);
                }
            }
}

TEST_CASE("cvt: integral rounding of floats keeps the format and the zero's sign",
          "[machine][arith]") {
    for (const char* type : {"f32", "f64", "f16"}) {
        const std::string t = type;
        const auto of = [&](double x) {
            return t == "f32"   ? bits(float(x))
                   : t == "f64" ? bits(x)
                                : uint64_t(machine::float_to_half(float(x)));
        };
        for (const double x : {2.5, -2.5, 3.5, 0.25, -0.25, 1000.0, -0.0}) {
            converts("cvt.rni." + t + "." + t, of(x), of(std::nearbyint(x)));
            converts("cvt.rzi." + t + "." + t, of(x), of(std::trunc(x)));
            converts("cvt.rmi." + t + "." + t, of(x), of(std::floor(x)));
            converts("cvt.rpi." + t + "." + t, of(x), of(std::ceil(x)));
        }
    }
    converts("cvt.rpi.f32.f32", 1, bits(1.0f));
    converts("cvt.rpi.ftz.f32.f32", 1, 0);
    converts("cvt.rmi.ftz.f32.f32", 0x80000001, 0x80000000);
    converts("cvt.rni.sat.f32.f32", bits(7.2f), bits(1.0f));
}

TEST_CASE("cvt: f32 to f32 saturates, flushes and makes NaN canonical", "[machine][arith]") {
    converts("cvt.sat.f32.f32", bits(-3.0f), 0);
    converts("cvt.sat.f32.f32", bits(3.0f), bits(1.0f));
    converts("cvt.sat.f32.f32", 0x7fc00000, 0);
    converts("cvt.sat.f32.f32", 1, 1);
    converts("cvt.ftz.sat.f32.f32", 1, 0);
    converts("cvt.sat.f64.f64", bits(1.5), bits(1.0));
    converts("cvt.sat.f16.f16", 0x4000, 0x3c00);
    converts("cvt.f32.f32", 0x7fc00001, 0x7fffffff);
    converts("cvt.ftz.f32.f32", 0x80000001, 0x80000000);
}

TEST_CASE("cvt: between float formats", "[machine][arith]") {
    converts("cvt.f64.f32", bits(1.5f), bits(1.5));
    converts("cvt.f64.f32", 1, bits(0x1p-149));
    converts("cvt.ftz.f64.f32", 0x80000001, bits(-0.0));
    converts("cvt.rn.f32.f64", bits(1.0 + 0x1p-24), bits(1.0f));
    converts("cvt.rp.f32.f64", bits(1.0 + 0x1p-50), bits(1.0f) + 1);
    converts("cvt.rz.f32.f64", bits(-1.0 - 0x1.8p-23), bits(-1.0f) + 1);
    converts("cvt.rm.f32.f64", bits(-1.0 - 0x1p-50), bits(-1.0f) + 1);
    converts("cvt.rn.f32.f64", bits(1e300), bits(INFINITY));
    converts("cvt.rz.f32.f64", bits(1e300), 0x7f7fffff);
    converts("cvt.rn.f32.f64", 0x7ff8000000000001, 0x7fc00000);
    converts("cvt.rn.f32.f64", bits(0x1p-140), bits(0x1p-140f));
    converts("cvt.rn.ftz.f32.f64", bits(-0x1p-140), 0x80000000);
    converts("cvt.rn.sat.f32.f64", bits(1.5), bits(1.0f));
    converts("cvt.f32.f16", 0x0001, bits(0x1p-24f));
    converts("cvt.f32.f16", 0x7e01, 0x7fffffff);
    converts("cvt.f64.f16", 0xc000, bits(-2.0));
    converts("cvt.rn.f16.f32", bits(65520.0f), 0x7c00);
    converts("cvt.rz.f16.f32", bits(65520.0f), 0x7bff);
    converts("cvt.rn.satfinite.f16.f32", bits(1e9f), 0x7bff);
    converts("cvt.rn.relu.f16.f32", bits(-1.0f), 0);
    converts("cvt.rn.relu.f16.f32", 0x7fc00000, 0x7fff);
    converts("cvt.rn.sat.f16.f32", bits(9.0f), 0x3c00);
    converts("cvt.rn.f16.f64", bits(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
    converts("cvt.rn.bf16.f32", bits(1.0f + 0x1p-8f), 0x3f80);
    converts("cvt.rz.bf16.f32", bits(1.99999f), 0x3fff);
    converts("cvt.f32.bf16", 0xbf80, bits(-1.0f));
    converts("cvt.rna.tf32.f32", 0x3f801000, 0x3f802000);
    converts("cvt.rn.tf32.f32", 0x3f801000, 0x3f800000);
    converts("cvt.rn.relu.tf32.f32", bits(-2.0f), 0);
}

TEST_CASE("cvt: two floats into a packed word, the first in the upper half", "[machine][arith]") {
    check({
        {"cvt.rn.f16x2.f32", {bits(1.0f), bits(2.0f)}, 0x3c004000},
        {"cvt.rz.f16x2.f32", {bits(65535.0f), bits(-65535.0f)}, 0x7bfffbff},
        {"cvt.rn.relu.f16x2.f32", {bits(-1.0f), bits(1.0f)}, 0x00003c00},
        {"cvt.rn.satfinite.f16x2.f32", {bits(1e9f), bits(-1e9f)}, 0x7bfffbff},
        {"cvt.rn.bf16x2.f32", {bits(1.0f), bits(-2.0f)}, 0x3f80c000},
        {"cvt.rz.relu.bf16x2.f32", {bits(1.99999f), bits(-2.0f)}, 0x3fff0000},
    });
}
