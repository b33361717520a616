// SPDX-License-Identifier: MIT
// setp and set: every comparison on every type, NaN, boolean combinations, second destinations.
#include <cmath>

#include "arith_lab.h"

using namespace lab;

namespace {
struct Operator {
    const char* name;
    bool less, equal, greater, unordered;
};
// What a comparison answers for a < b, a = b, a > b and "one is NaN".
const Operator kOrdered[] = {{"eq", false, true, false, false},
                             {"ne", true, false, true, false},
                             {"lt", true, false, false, false},
                             {"le", true, true, false, false},
                             {"gt", false, false, true, false},
                             {"ge", false, true, true, false}};
const Operator kFloatOnly[] = {{"equ", false, true, false, true},
                               {"neu", true, false, true, true},
                               {"ltu", true, false, false, true},
                               {"leu", true, true, false, true},
                               {"gtu", false, false, true, true},
                               {"geu", false, true, true, true},
                               {"num", true, true, true, false},
                               {"nan", false, false, false, true}};
const Operator kUnsignedOnly[] = {{"lo", true, false, false, false},
                                  {"ls", true, true, false, false},
                                  {"hi", false, false, true, false},
                                  {"hs", false, true, true, false}};

void compare(const char* op, const std::string& type, uint64_t a, uint64_t b, bool want) {
    check({{std::string("setp.") + op + "." + type, {a, b}, want}});
}
}  // namespace

TEST_CASE("setp: integers of every width and signedness", "[machine][arith]") {
    for (const unsigned bits : {16u, 32u, 64u}) {
        const uint64_t all = ~uint64_t(0) >> (64 - bits), top = uint64_t(1) << (bits - 1);
        const std::string s = "s" + std::to_string(bits), u = "u" + std::to_string(bits),
                          b = "b" + std::to_string(bits);
        for (const Operator& op : kOrdered) {
            compare(op.name, u, 3, all, op.less);
            compare(op.name, u, all, 3, op.greater);
            compare(op.name, u, top, top, op.equal);
            compare(op.name, s, all, 3, op.less);  // -1 < 3
            compare(op.name, s, 3, all, op.greater);
            compare(op.name, s, top, top - 1, op.less);
            compare(op.name, s, 7, 7, op.equal);
        }
        for (const Operator& op : kUnsignedOnly) {
            compare(op.name, u, 3, all, op.less);
            compare(op.name, u, all, 3, op.greater);
            compare(op.name, u, 9, 9, op.equal);
        }
        compare("eq", b, top, top, true);
        compare("ne", b, top, 0, true);
        // Only a high bit differs.
        compare("eq", b, top | 5, 5, false);
    }
}

TEST_CASE("setp: floats, ordered and unordered", "[machine][arith]") {
    struct {
        const char* type;
        uint64_t one, two, nan, plus, minus;
    } const types[] = {
        {"f32", bits(1.0f), bits(2.0f), 0x7fc00000, 0, 0x80000000},
        {"f64", bits(1.0), bits(2.0), 0x7ff8000000000000, 0, bits(-0.0)},
        {"f16", 0x3c00, 0x4000, 0x7e00, 0, 0x8000},
        {"bf16", 0x3f80, 0x4000, 0x7fc0, 0, 0x8000},
    };
    const auto all = [&](const Operator& op) {
        for (const auto& t : types) {
            compare(op.name, t.type, t.one, t.two, op.less);
            compare(op.name, t.type, t.two, t.one, op.greater);
            compare(op.name, t.type, t.two, t.two, op.equal);
            compare(op.name, t.type, t.plus, t.minus, op.equal);
            compare(op.name, t.type, t.nan, t.one, op.unordered);
            compare(op.name, t.type, t.one, t.nan, op.unordered);
            compare(op.name, t.type, t.nan, t.nan, op.unordered);
        }
    };
    for (const Operator& op : kOrdered) all(op);
    for (const Operator& op : kFloatOnly) all(op);
}

TEST_CASE("setp: ftz compares subnormals as zeros", "[machine][arith]") {
    check({
        {"setp.lt.f32", {0, 1}, 1},
        {"setp.lt.ftz.f32", {0, 1}, 0},
        {"setp.eq.ftz.f32", {0x80000001, 0x007fffff}, 1},
        {"setp.gtu.ftz.f32", {1, 0}, 0},
        {"setp.lt.f16", {0, 1}, 1},
        {"setp.lt.ftz.f16", {0, 1}, 0},
    });
}

TEST_CASE("setp: the boolean operation with a third predicate, and q", "[machine][arith]") {
    for (const uint64_t less : {0, 1})
        for (const uint64_t c : {0, 1}) {
            const uint64_t a = less ? 1 : 3, b = 2;
            check({{"setp.lt.and.s32", {a, b, c}, less & c},
                   {"setp.lt.or.s32", {a, b, c}, less | c},
                   {"setp.lt.xor.s32", {a, b, c}, less ^ c},
                   {"setp.ge.and.f32", {bits(float(a)), bits(2.0f), c}, (less ^ 1) & c}});
            const uint64_t opposite = less ^ 1;
            Setup setup{.mnemonic = "setp.lt.s32", .sources = {{a}, {b}}};
            setup.pair = true;
            Outcome outcome = run(setup);
            CHECK(outcome.dst[4] == less);
            CHECK(outcome.dst2[4] == opposite);
            setup.mnemonic = "setp.lt.or.s32";
            setup.sources.push_back({c});
            outcome = run(setup);
            CHECK(outcome.dst[4] == (less | c));
            CHECK(outcome.dst2[4] == (opposite | c));
        }
}

TEST_CASE("setp: packed halves give one predicate each", "[machine][arith]") {
    Setup setup{.mnemonic = "setp.lt.f16x2", .sources = {{0x40003c00}, {0x3c004000}}};
    setup.pair = true;
    Outcome outcome = run(setup);
    CHECK(outcome.dst[0] == 1);   // 1 < 2 in the lower halves
    CHECK(outcome.dst2[0] == 0);  // 2 < 1 in the upper ones
    setup.mnemonic = "setp.geu.bf16x2";
    setup.sources = {{0x7fc03f80}, {0x3f804000}};
    outcome = run(setup);
    CHECK(outcome.dst[0] == 0);
    CHECK(outcome.dst2[0] == 1);
    setup.mnemonic = "setp.gt.and.f16x2";
    setup.sources = {{0x40004000}, {0x3c003c00}, {1}};
    outcome = run(setup);
    CHECK(outcome.dst[0] == 1);
    CHECK(outcome.dst2[0] == 1);
}

TEST_CASE("setp: each lane gets its own bit", "[machine][arith]") {
    for (const char* type : {"u16", "u32", "u64", "f32", "f64", "f16"}) {
        Setup setup{.mnemonic = std::string("setp.gt.") + type, .sources = {{}, {0}}};
        for (uint64_t i = 0; i < kWarpSize; ++i)
            setup.sources[0].push_back(0xc3a5910fu >> i & 1 ? 0x3c003c00 : 0);
        if (std::string(type) == "f64")
            for (uint64_t& x : setup.sources[0]) x <<= 32;
        if (std::string(type) == "u16" || std::string(type) == "f16")
            for (uint64_t& x : setup.sources[0]) x &= 0xffff;
        const Outcome outcome = run(setup);
        for (uint64_t i = 0; i < kWarpSize; ++i) {
            CAPTURE(type, i);
            CHECK(outcome.dst[i] == (0xc3a5910fu >> i & 1));
        }
    }
}

TEST_CASE("set: ones or 1.0 in the destination's type", "[machine][arith]") {
    check({
        {"set.lt.u32.s32", {uint32_t(-1), 1}, 0xffffffff},
        {"set.lt.u32.u32", {uint32_t(-1), 1}, 0},
        {"set.eq.s32.f32", {bits(1.0f), bits(1.0f)}, 0xffffffff},
        {"set.gt.f32.f64", {bits(2.0), bits(1.0)}, bits(1.0f)},
        {"set.gt.f32.s64", {1, 2}, 0},
        {"set.eq.f16.f16", {0x3c00, 0x3c00}, 0x3c00},
        {"set.neu.f16.f16", {0x7e00, 0x3c00}, 0x3c00},
        {"set.lt.bf16.bf16", {0x3f80, 0x4000}, 0x3f80},
        {"set.le.u16.f16", {0x3c00, 0x4000}, 0xffff},
        {"set.gt.f16x2.f16x2", {0x40003c00, 0x3c004000}, 0x3c000000},
        {"set.lt.bf16x2.bf16x2", {0x3f803f80, 0x40000000}, 0x3f800000},
        {"set.ne.u32.f16x2", {0x40003c00, 0x3c003c00}, 0xffff0000},
        {"set.lt.and.u32.s32", {1, 2, 0}, 0},
        {"set.lt.and.u32.s32", {1, 2, 1}, 0xffffffff},
        {"set.lt.xor.f32.s32", {1, 2, 1}, 0},
    });
}
