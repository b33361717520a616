// SPDX-License-Identifier: MIT
// The rare operations: packed and mixed floats, three operands, formats of 8 bits.
#include <algorithm>
#include <cfenv>

#include "host_half.h"
#include "lane_bench.h"

using namespace machine_lab;

TEST_CASE("f32x2: both halves, in every rounding", "[machine][float]") {
    const float tiny = 1e-42f, third = 1.0f / 3;
    std::vector<Operands> sets;
    const auto pair = [](float low, float high) { return uint64_t(bits(high)) << 32 | bits(low); };
    sets.push_back({pair(1, third), pair(third, 1e-9f), pair(tiny, -third)});
    sets.push_back({pair(-1, tiny), pair(1e-10f, tiny), pair(0.0f, -0.0f)});
    sets.push_back({pair(INFINITY, NAN), pair(-INFINITY, 1), pair(1, 1)});
    const std::pair<const char*, int> kModes[] = {
        {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
    for (const auto& [name, mode] : kModes)
        for (const std::string ftz : {"", ".ftz"}) {
            const auto sum = evaluate(
                "add." + std::string(name) + ftz + ".f32x2 %rd4, %rd1, %rd2", "%rd4", sets);
            const auto fused = evaluate(
                "fma." + std::string(name) + ftz + ".f32x2 %rd4, %rd1, %rd2, %rd3", "%rd4", sets);
            for (size_t i = 0; i < sets.size(); ++i)
                for (int k = 0; k < 2; ++k) {
                    volatile float v[3];
                    const auto flush = [&](float x) {
                        return !ftz.empty() && std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x)
                                                                        : x;
                    };
                    for (int j = 0; j < 3; ++j) v[j] = flush(number(sets[i][size_t(j)] >> 32 * k));
                    std::fesetround(mode);
                    volatile float add = v[0] + v[1], product = std::fma(v[0], v[1], v[2]);
                    std::fesetround(FE_TONEAREST);
                    const auto same = [&](uint64_t got, float want) {
                        want = flush(want);
                        const uint32_t expected = want != want ? 0x7fffffff : bits(want);
                        INFO(name << ftz << " set " << i << " half " << k);
                        REQUIRE(uint32_t(got >> 32 * k) == expected);
                    };
                    same(sum[i], add);
                    same(fused[i], product);
                }
        }
}

TEST_CASE("f32 with a half operand: one rounding, saturation", "[machine][float]") {
    // 0x3c01 is 1 + 2^-10 as f16 and 0x3f81 is 1 + 2^-7 as bf16.
    std::vector<Operands> sets = {
        {0x3c01, 0x3c01, bits(0x1p-30f)},
        {0xbc00, 0x3c00, bits(1.0f)},
        {0x7c00, 0xbc00, bits(INFINITY)},
        {0x0001, 0x0001, bits(0x1p-60f)},
        {0x8000, 0x3c00, bits(-0.0f)},
        {0x4500, 0x3c00, bits(0.25f)},
    };
    const auto half = [](uint64_t h) { return double(std::bit_cast<HostHalf>(uint16_t(h))); };
    const auto fused = evaluate("fma.rn.f32.f16 %f4, %rs1, %rs2, %f3", "%f4", sets);
    const auto down = evaluate("fma.rm.f32.f16 %f4, %rs1, %rs2, %f3", "%f4", sets);
    const auto clamped = evaluate("fma.rn.sat.f32.f16 %f4, %rs1, %rs2, %f3", "%f4", sets);
    const auto sum = evaluate("add.rz.f32.f16 %f4, %rs1, %f3", "%f4", sets);
    const auto difference = evaluate("sub.f32.bf16 %f4, %rs1, %f3", "%f4", sets);
    for (size_t i = 0; i < sets.size(); ++i) {
        CAPTURE(i);
        const double a = half(sets[i][0]), b = half(sets[i][1]), c = double(number(sets[i][2]));
        const auto rounded = [](int mode, double x, double y, double z) {
            std::fesetround(mode);
            volatile float r = std::fma(float(x), float(y), float(z));
            std::fesetround(FE_TONEAREST);
            return r != r ? 0x7fffffffu : bits(r);
        };
        CHECK(uint32_t(fused[i]) == rounded(FE_TONEAREST, a, b, c));
        CHECK(uint32_t(down[i]) == rounded(FE_DOWNWARD, a, b, c));
        const float exact = std::fma(float(a), float(b), float(c));
        CHECK(number(clamped[i]) ==
              (exact != exact ? 0.0f : std::min(std::max(exact, 0.0f), 1.0f)));
        CHECK(uint32_t(sum[i]) == rounded(FE_TOWARDZERO, a, 1, c));
        const float bf16 = number(sets[i][0] << 16);
        const float minus = bf16 - number(sets[i][2]);
        CHECK(uint32_t(difference[i]) == (minus != minus ? 0x7fffffffu : bits(minus)));
    }
}

TEST_CASE("min and max of three", "[machine][float]") {
    const float nan = NAN;
    const std::vector<Operands> sets = {{bits(1), bits(-2), bits(3)},
                                        {bits(-0.0f), bits(0.0f), bits(0.0f)},
                                        {bits(nan), bits(5), bits(-7)},
                                        {bits(nan), bits(nan), bits(nan)},
                                        {bits(1e-42f), bits(-1e-42f), bits(0.0f)}};
    const auto least = evaluate("min.f32 %f4, %f1, %f2, %f3", "%f4", sets);
    CHECK(least[0] == bits(-2));
    CHECK(least[1] == bits(-0.0f));
    CHECK(least[2] == bits(-7));
    CHECK(least[3] == 0x7fffffff);
    CHECK(least[4] == bits(-1e-42f));
    const auto most = evaluate("max.NaN.f32 %f4, %f1, %f2, %f3", "%f4", sets);
    CHECK(most[0] == bits(3));
    CHECK(most[1] == bits(0.0f));
    CHECK(most[2] == 0x7fffffff);
    const auto magnitude = evaluate("max.ftz.abs.f32 %f4, %f1, %f2, %f3", "%f4", sets);
    CHECK(magnitude[2] == bits(7));
    CHECK(magnitude[4] == bits(0.0f));
}

TEST_CASE("lop3 with a predicate", "[machine][bits]") {
    const auto sets = integer_sets(8);
    const auto both = evaluate("lop3.and.b32 %r4|%p2, %r1, %r2, %r3, 0x80, %p1", "%r4", sets);
    const auto all = evaluate("lop3.and.b32 %r4|%p2, %r1, %r2, %r3, 0x80, %p1", "%p2", sets);
    const auto any = evaluate("lop3.or.b32 _|%p2, %r1, %r2, %r3, 0x96, %p1", "%p2", sets);
    for (size_t i = 0; i < sets.size(); ++i) {
        const uint32_t a = uint32_t(sets[i][0]), b = uint32_t(sets[i][1]), c = uint32_t(sets[i][2]);
        CHECK(uint32_t(both[i]) == (a & b & c));
        CHECK(all[i] == ((a & b & c) != 0 && (c & 1)));
        CHECK(any[i] == ((a ^ b ^ c) != 0 || (c & 1)));
    }
}

TEST_CASE("cvt.pack clamps and packs", "[machine][convert]") {
    const std::vector<Operands> sets = {{70000, uint32_t(-5), 0x12345678},
                                        {uint32_t(-40000), 32768, 0xffffffff},
                                        {127, 128, 0xabcd},
                                        {uint32_t(-129), 255, 0}};
    const auto words = evaluate("cvt.pack.sat.s16.s32 %r4, %r1, %r2", "%r4", sets);
    CHECK(words[0] == 0x7ffffffb);
    CHECK(words[1] == 0x80007fff);
    const auto halves = evaluate("cvt.pack.sat.u16.s32 %r4, %r1, %r2", "%r4", sets);
    CHECK(halves[0] == 0xffff0000);
    CHECK(halves[1] == 0x00008000);
    const auto bytes = evaluate("cvt.pack.sat.s8.s32.b32 %r4, %r1, %r2, %r3", "%r4", sets);
    CHECK(bytes[0] == 0x56787ffb);
    CHECK(bytes[2] == 0xabcd7f7f);
    CHECK(bytes[3] == 0x0000807f);
    const auto nibbles = evaluate("cvt.pack.sat.u4.s32.b32 %r4, %r1, %r2, %r3", "%r4", sets);
    CHECK(nibbles[2] == 0x00abcdff);
    CHECK(nibbles[0] == 0x345678f0);
}

TEST_CASE("formats of 8 bits: every code, rounding, the largest number and NaN",
          "[machine][convert]") {
    // Values by hand from the two formats' definitions.
    const auto value = [](bool e4m3, unsigned code) {
        const int fraction_bits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
        const unsigned magnitude = code & 0x7f, exponent = magnitude >> fraction_bits,
                       fraction = magnitude & ((1u << fraction_bits) - 1);
        double x = exponent ? std::ldexp(1 + std::ldexp(double(fraction), -fraction_bits),
                                         int(exponent) - bias)
                            : std::ldexp(double(fraction), 1 - bias - fraction_bits);
        if (e4m3 ? magnitude == 0x7f : magnitude > 0x7c) x = NAN;
        if (!e4m3 && magnitude == 0x7c) x = INFINITY;
        return code & 0x80 ? -x : x;
    };
    for (const bool e4m3 : {true, false}) {
        const std::string name = e4m3 ? "e4m3x2" : "e5m2x2";
        for (unsigned base = 0; base < 256; base += 32) {
            std::vector<Operands> sets, back;
            for (unsigned i = 0; i < 32; ++i) sets.push_back({base + i, 0, 0});
            const auto wide = evaluate("cvt.rn.f16x2." + name + " %r4, %rs1", "%r4", sets);
            for (unsigned i = 0; i < 32; ++i) {
                const double want = value(e4m3, base + i);
                const double got = double(std::bit_cast<HostHalf>(uint16_t(wide[i])));
                CAPTURE(name, base + i);
                REQUIRE(((want != want && got != got) || want == got));
                back.push_back({bits(float(want)), bits(float(-want)), 0});
            }
            const auto narrow =
                evaluate("cvt.rn.satfinite." + name + ".f32 %rs4, %f1, %f2", "%rs4", back);
            for (unsigned i = 0; i < 32; ++i) {
                const unsigned magnitude = (base + i) & 0x7f, largest = e4m3 ? 0x7e : 0x7b;
                unsigned code = base + i;
                if (!e4m3 && magnitude == 0x7c) code = (code & 0x80) | largest;
                if (magnitude > 0x7c + (e4m3 ? 2 : 0)) {
                    REQUIRE(narrow[i] == 0x7f7f);
                    continue;
                }
                CAPTURE(name, base + i);
                REQUIRE(narrow[i] == (code << 8 | (code ^ 0x80)));
            }
        }
    }
    // 1.0625 lies between 1 (even) and 1.125; 464 and more than 448 clamp; negatives with .relu.
    const std::vector<Operands> sets = {{bits(1.0625f), bits(1.1875f), 0},
                                        {bits(464.0f), bits(1e9f), 0},
                                        {bits(-1.0f), bits(NAN), 0},
                                        {bits(0x1p-10f), bits(0x1.8p-9f), 0}};
    const auto got = evaluate("cvt.rn.satfinite.e4m3x2.f32 %rs4, %f1, %f2", "%rs4", sets);
    CHECK(got[0] == 0x383a);
    CHECK(got[1] == 0x7e7e);
    CHECK(got[2] == 0xb87f);
    CHECK(got[3] == 0x0002);
    CHECK(evaluate("cvt.rn.satfinite.relu.e4m3x2.f32 %rs4, %f1, %f2", "%rs4", sets)[2] == 0x007f);
    CHECK(evaluate("cvt.rn.satfinite.e5m2x2.f16x2 %rs4, %r1", "%rs4", {{0x3c00bc00, 0, 0}})[0] ==
          0x3cbc);
    CHECK(evaluate("cvt.rn.satfinite.e3m2x2.f32 %rs4, %f1, %f2",
                   "%rs4",
                   {{bits(28.0f), bits(-1e9f), 0}})[0] == 0x1f3f);
}

TEST_CASE("redux of f32: magnitudes, NaN, signed zero", "[machine][warp]") {
    const auto reduced = [](const std::string& mnemonic, std::vector<float> values) {
        Lab lab;
        for (size_t i = 0; i < 32; ++i) lab.give(i, values[i % values.size()]);
        REQUIRE(lab.run("mad.wide.u32 %rd1, %lane, 4, %in;\nld.global.f32 %f1, [%rd1];\n" +
                        mnemonic + " %f2, %f1, 0xffffffff;\nst.global.f32 [%mine], %f2;")
                    .status == LaunchStatus::kOk);
        for (size_t i = 1; i < 32; ++i) REQUIRE(lab.got(i) == lab.got(0));
        return lab.got(0);
    };
    CHECK(reduced("redux.sync.min.f32", {3, -8, 5}) == bits(-8));
    CHECK(reduced("redux.sync.max.f32", {3, -8, NAN}) == bits(3));
    CHECK(reduced("redux.sync.max.abs.f32", {3, -8, 5}) == bits(8));
    CHECK(reduced("redux.sync.min.NaN.f32", {3, NAN, 5}) == 0x7fffffff);
    CHECK(reduced("redux.sync.min.f32", {0.0f, -0.0f}) == bits(-0.0f));
    CHECK(reduced("redux.sync.max.f32", {-0.0f, 0.0f}) == bits(0.0f));
    CHECK(reduced("redux.sync.max.f32", {NAN, NAN}) == 0x7fffffff);
}
