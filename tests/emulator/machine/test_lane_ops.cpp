// SPDX-License-Identifier: MIT
// The rare operations: video instructions, packed and mixed floats, formats of 8 bits.
#include <algorithm>
#include <cfenv>

#include "host_half.h"
#include "lane_bench.h"

using namespace machine_lab;

namespace {

// Bytes or halves of a word by number; -1: the word.
int64_t piece(uint32_t word, char kind, int k, bool is_signed) {
    if (kind == 'b') {
        unsigned char bytes[4];
        std::memcpy(bytes, &word, 4);
        return is_signed ? int64_t(int8_t(bytes[k])) : int64_t(bytes[k]);
    }
    if (kind == 'h') {
        uint16_t halves[2];
        std::memcpy(halves, &word, 4);
        return is_signed ? int64_t(int16_t(halves[k])) : int64_t(halves[k]);
    }
    return is_signed ? int64_t(int32_t(word)) : int64_t(word);
}

struct Operation {
    const char* name;
    int64_t (*of)(int64_t, int64_t);
};
const Operation kOperations[] = {
    {"vadd", [](int64_t a, int64_t b) { return a + b; }},
    {"vsub", [](int64_t a, int64_t b) { return a - b; }},
    {"vabsdiff", [](int64_t a, int64_t b) { return std::abs(a - b); }},
    {"vmin", [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"vmax", [](int64_t a, int64_t b) { return std::max(a, b); }},
};

int64_t limited(int64_t x, int bits, bool is_signed) {
    const int64_t top = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
    return std::min(std::max(x, is_signed ? -top - 1 : 0), top);
}

}  // namespace

TEST_CASE("video: whole words, wrapped and saturated, in all signs", "[machine][video]") {
    const auto sets = integer_sets(1);
    for (const Operation& op : kOperations)
        for (const int signs : {0, 1, 2, 3, 4, 5, 6, 7})
            for (const bool saturates : {false, true}) {
                const bool d = signs & 1, a = signs & 2, b = signs & 4;
                const auto type = [](bool s) { return std::string(s ? ".s32" : ".u32"); };
                const std::string text = op.name + type(d) + type(a) + type(b) +
                                         (saturates ? ".sat" : "") + " %r4, %r1, %r2";
                const auto got = evaluate(text, "%r4", sets);
                for (size_t i = 0; i < sets.size(); ++i) {
                    int64_t want = op.of(piece(uint32_t(sets[i][0]), 'w', 0, a),
                                         piece(uint32_t(sets[i][1]), 'w', 0, b));
                    if (saturates) want = limited(want, 32, d);
                    INFO(text << " lane " << i);
                    REQUIRE(uint32_t(got[i]) == uint32_t(want));
                }
            }
}

TEST_CASE("video: parts of the operands, a second operation, and merging", "[machine][video]") {
    const auto sets = integer_sets(2);
    for (const Operation& op : kOperations) {
        const std::string name = op.name;
        const auto sum =
            evaluate(name + ".s32.s32.u32.sat.add %r4, %r1.b3, %r2.h1, %r3", "%r4", sets);
        const auto least =
            evaluate(name + ".s32.s32.s32.min %r4, %r1.h0, %r2.b1, %r3", "%r4", sets);
        const auto most = evaluate(name + ".u32.u32.u32.max %r4, %r1.b0, %r2.b2, %r3", "%r4", sets);
        const auto byte = evaluate(name + ".s32.s32.s32.sat %r4.b2, %r1.h1, %r2, %r3", "%r4", sets);
        const auto half = evaluate(name + ".u32.u32.s32 %r4.h1, %r1.b1, %r2.h0, %r3", "%r4", sets);
        for (size_t i = 0; i < sets.size(); ++i) {
            const uint32_t a = uint32_t(sets[i][0]), b = uint32_t(sets[i][1]),
                           c = uint32_t(sets[i][2]);
            INFO(name << " lane " << i);
            const int64_t first =
                limited(op.of(piece(a, 'b', 3, true), piece(b, 'h', 1, false)), 32, true);
            REQUIRE(uint32_t(sum[i]) == uint32_t(first) + c);
            const int64_t second = op.of(piece(a, 'h', 0, true), piece(b, 'b', 1, true));
            REQUIRE(int32_t(least[i]) == std::min(int32_t(second), int32_t(c)));
            const int64_t third = op.of(piece(a, 'b', 0, false), piece(b, 'b', 2, false));
            REQUIRE(uint32_t(most[i]) == std::max(uint32_t(third), c));
            const int64_t fourth =
                limited(op.of(piece(a, 'h', 1, true), piece(b, 'w', 0, true)), 8, true);
            REQUIRE(uint32_t(byte[i]) == ((c & 0xff00ffff) | uint32_t(uint8_t(fourth)) << 16));
            const int64_t fifth = op.of(piece(a, 'b', 1, false), piece(b, 'h', 0, true));
            REQUIRE(uint32_t(half[i]) == ((c & 0xffff) | uint32_t(uint16_t(fifth)) << 16));
        }
    }
}

// Measured on an H200 where PTX ISA leaves the width or the sign open.
TEST_CASE("video: what is compared with c", "[machine][video]") {
    struct Known {
        std::string opcode;
        Operands operands;
        uint32_t want;
    };
    const Known known[] = {
        {"vmax.u32.u32.u32.sat.max", {0x80000000, 0xffff8000, 0xffffffff}, 0xffffffff},
        {"vmax.u32.u32.u32.sat.min", {0x80000000, 0xffff8000, 0x7fffffff}, 0x7fffffff},
        {"vset.s32.s32.lt.max", {0xff, 0xff, 0xdeadbeef}, 0},
        {"vset.s32.u32.lt.min", {0xff, 0xff, 0xdeadbeef}, 0xdeadbeef},
        {"vset.u32.u32.lt.min", {0xff, 0xff, 0xdeadbeef}, 0},
        {"vset.u32.s32.le.max", {0xff, 0xff, 0xdeadbeef}, 0xdeadbeef},
        {"vshl.s32.s32.u32.clamp.max", {0xff, 0xff, 0xdeadbeef}, 0},
        {"vshl.s32.s32.u32.clamp.max", {0x80000000, 0xffff8000, 0xffffffff}, 0xffffffff},
        {"vadd.u32.u32.u32.max", {0xffffffff, 2, 0x80000000}, 0x80000000},
    };
    for (const Known& one : known) {
        INFO(one.opcode);
        CHECK(uint32_t(evaluate(one.opcode + " %r4, %r1, %r2, %r3", "%r4", {one.operands})[0]) ==
              one.want);
    }
}

TEST_CASE("video: shifts clamp at 32 or wrap", "[machine][video]") {
    const auto sets = integer_sets(3);
    const auto left = evaluate("vshl.u32.u32.u32.clamp %r4, %r1, %r2", "%r4", sets);
    const auto wrapped = evaluate("vshl.u32.u32.u32.wrap %r4, %r1, %r2", "%r4", sets);
    const auto right = evaluate("vshr.s32.s32.u32.clamp %r4, %r1, %r2", "%r4", sets);
    const auto full = evaluate("vshl.s32.s32.u32.sat.clamp %r4, %r1, %r2", "%r4", sets);
    for (size_t i = 0; i < sets.size(); ++i) {
        const uint32_t a = uint32_t(sets[i][0]), b = uint32_t(sets[i][1]);
        CAPTURE(a, b);
        REQUIRE(uint32_t(left[i]) == (b >= 32 ? 0 : a << b));
        REQUIRE(uint32_t(wrapped[i]) == a << (b % 32));
        REQUIRE(int32_t(right[i]) == int32_t(a) >> std::min(b, 31u));
        // Of the shifted number 34 bits are looked at, as on an H200.
        const __int128 exact =
            int64_t(uint64_t(int64_t(int32_t(a))) << std::min(b, 32u) << 30) >> 30;
        const int32_t want = exact > INT32_MAX   ? INT32_MAX
                             : exact < INT32_MIN ? INT32_MIN
                                                 : int32_t(exact);
        REQUIRE(int32_t(full[i]) == want);
    }
}

TEST_CASE("video: vmad with signs, scale, plus one and saturation", "[machine][video]") {
    const auto sets = integer_sets(4);
    const auto plain = evaluate("vmad.s32.s32.s32 %r4, %r1, %r2, %r3", "%r4", sets);
    const auto minus_c = evaluate("vmad.s32.u32.u32 %r4, %r1.h0, %r2.b1, -%r3", "%r4", sets);
    const auto minus_a = evaluate("vmad.s32.u32.u32.sat %r4, -%r1.h1, %r2.h0, %r3", "%r4", sets);
    const auto scaled = evaluate("vmad.s32.s32.s32.sat.shr7 %r4, %r1, %r2, %r3", "%r4", sets);
    const auto plus_one = evaluate("vmad.u32.u32.u32.po.shr15 %r4, %r1, %r2, %r3", "%r4", sets);
    for (size_t i = 0; i < sets.size(); ++i) {
        const uint32_t a = uint32_t(sets[i][0]), b = uint32_t(sets[i][1]), c = uint32_t(sets[i][2]);
        CAPTURE(a, b, c);
        REQUIRE(uint32_t(plain[i]) == a * b + c);
        REQUIRE(uint32_t(minus_c[i]) == (a & 0xffff) * (b >> 8 & 0xff) - c);
        const int64_t negative = int64_t(int32_t(c)) - int64_t(a >> 16) * int64_t(b & 0xffff);
        REQUIRE(int32_t(minus_a[i]) == limited(negative, 32, true));
        const __int128 exact = (__int128(int32_t(a)) * int32_t(b) + int32_t(c)) >> 7;
        REQUIRE(int32_t(scaled[i]) == int32_t(exact > INT32_MAX   ? INT32_MAX
                                              : exact < INT32_MIN ? INT32_MIN
                                                                  : int32_t(exact)));
        const unsigned __int128 one = ((unsigned __int128)a * b + c + 1) >> 15;
        REQUIRE(uint32_t(plus_one[i]) == uint32_t(one));
    }
}

TEST_CASE("video: vset in every comparison", "[machine][video]") {
    const auto sets = integer_sets(5);
    const std::pair<const char*, bool (*)(int64_t, int64_t)> kComparisons[] = {
        {"eq", [](int64_t a, int64_t b) { return a == b; }},
        {"ne", [](int64_t a, int64_t b) { return a != b; }},
        {"lt", [](int64_t a, int64_t b) { return a < b; }},
        {"le", [](int64_t a, int64_t b) { return a <= b; }},
        {"gt", [](int64_t a, int64_t b) { return a > b; }},
        {"ge", [](int64_t a, int64_t b) { return a >= b; }},
    };
    for (const auto& [name, of] : kComparisons) {
        const auto got =
            evaluate("vset.s32.u32." + std::string(name) + " %r4, %r1.b0, %r2", "%r4", sets);
        const auto added =
            evaluate("vset.u32.u32." + std::string(name) + ".add %r4, %r1, %r2, %r3", "%r4", sets);
        for (size_t i = 0; i < sets.size(); ++i) {
            const uint32_t a = uint32_t(sets[i][0]), b = uint32_t(sets[i][1]);
            CAPTURE(name, a, b);
            REQUIRE(got[i] == of(int8_t(a), int64_t(b)));
            REQUIRE(uint32_t(added[i]) == uint32_t(sets[i][2]) + of(a, b));
        }
    }
}

TEST_CASE("video: chosen elements of two words", "[machine][video]") {
    const auto sets = integer_sets(6);
    const auto halves =
        evaluate("vadd2.s32.s32.s32.sat %r4.h1, %r1.h30, %r2.h12, %r3", "%r4", sets);
    const auto bytes =
        evaluate("vmax4.u32.u32.u32 %r4.b20, %r1.b7654, %r2.b0123, %r3", "%r4", sets);
    for (size_t i = 0; i < sets.size(); ++i) {
        const uint32_t a = uint32_t(sets[i][0]), b = uint32_t(sets[i][1]), c = uint32_t(sets[i][2]);
        // Elements 0 and 1 are a's halves, 2 and 3 b's; .h30: the upper one is 3, the lower 0.
        const int64_t upper = limited(piece(b, 'h', 1, true) + piece(a, 'h', 1, true), 16, true);
        CAPTURE(a, b, c);
        REQUIRE(uint32_t(halves[i]) == ((c & 0xffff) | uint32_t(uint16_t(upper)) << 16));
        const auto byte = [&](int k) {  // of the first operand b, of the second a backwards
            return uint32_t(std::max(piece(b, 'b', k, false), piece(a, 'b', 3 - k, false)));
        };
        REQUIRE(uint32_t(bytes[i]) == ((c & 0xff00ff00) | byte(0) | byte(2) << 16));
    }
}

TEST_CASE("video: sums of SIMD results, of all elements and of some", "[machine][video]") {
    const auto sets = integer_sets(8);
    for (const Operation& op : kOperations)
        for (const int signs : {0, 1, 2, 3, 4, 5, 6, 7}) {
            const bool d = signs & 1, a = signs & 2, b = signs & 4;
            const auto type = [](bool s) { return std::string(s ? ".s32" : ".u32"); };
            const std::string text =
                std::string(op.name) + "2" + type(d) + type(a) + type(b) + ".add %r4";
            const auto plain = evaluate(text + ", %r1, %r2, %r3", "%r4", sets);
            const auto spelled = evaluate(text + ".h10, %r1.h10, %r2.h32, %r3", "%r4", sets);
            const auto upper = evaluate(text + ".h1, %r1, %r2, %r3", "%r4", sets);
            for (size_t i = 0; i < sets.size(); ++i) {
                const auto of = [&](int k) {
                    return uint32_t(op.of(piece(uint32_t(sets[i][0]), 'h', k, a),
                                          piece(uint32_t(sets[i][1]), 'h', k, b)));
                };
                INFO(text << " lane " << i);
                REQUIRE(uint32_t(plain[i]) == uint32_t(sets[i][2]) + of(0) + of(1));
                REQUIRE(uint32_t(spelled[i]) == uint32_t(plain[i]));
                REQUIRE(uint32_t(upper[i]) == uint32_t(sets[i][2]) + of(1));
            }
        }
}

TEST_CASE("rare operations: inactive lanes keep their value", "[machine][video]") {
    const auto got =
        evaluate("vadd.u32.u32.u32 %r4, %r1.b0, 1", "%r4", integer_sets(7), 0x00f0f00f);
    for (size_t i = 0; i < 32; ++i)
        CHECK((uint32_t(got[i]) == 0x5a5a5a5a) == !(0x00f0f00fu >> i & 1));
}

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
