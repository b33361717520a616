// SPDX-License-Identifier: MIT
// Video instructions: bytes, halves and words of the operands, compared, shifted, added up.
#include <algorithm>

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
