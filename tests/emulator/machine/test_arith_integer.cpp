// SPDX-License-Identifier: MIT
// Integer arithmetic: wrap-around, signs, widths, saturation, division's special cases, carries.
#include <random>

#include "arith_lab.h"

using namespace lab;

namespace {
__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;

struct IntType {
    const char* name;
    unsigned bits;
    bool is_signed;
    uint64_t mask() const { return ~uint64_t(0) >> (64 - bits); }
    // The value that the low bits stand for.
    Signed128 value(uint64_t x) const {
        x &= mask();
        if (is_signed && x >> (bits - 1)) return Signed128(x) - (Signed128(1) << bits);
        return Signed128(x);
    }
    uint64_t cut(Signed128 x) const { return uint64_t(Unsigned128(x)) & mask(); }
};
const IntType kTypes[] = {{"u16", 16, false},
                          {"s16", 16, true},
                          {"u32", 32, false},
                          {"s32", 32, true},
                          {"u64", 64, false},
                          {"s64", 64, true}};

// Numbers near the ends, small ones and random ones.
std::vector<uint64_t> samples(const IntType& type, unsigned seed) {
    std::mt19937_64 random(seed);
    const uint64_t top = uint64_t(1) << (type.bits - 1);
    const uint64_t special[] = {
        0, 1, 2, 3, 7, type.mask(), type.mask() - 1, top - 1, top, top + 1, top / 2, 0xff};
    std::vector<uint64_t> list;
    for (unsigned i = 0; i < kWarpSize; ++i) {
        const uint64_t x = i % 2 ? random() : special[random() % 12];
        list.push_back((i % 5 == 3 ? x >> (random() % type.bits) : x) & type.mask());
    }
    return list;
}

// Compares 32 lanes of several seeds with `formula` on exact values.
template <class F>
void compare(const std::string& op, const IntType& type, unsigned sources, F&& formula) {
    for (unsigned seed = 1; seed <= 8; ++seed) {
        Setup setup{.mnemonic = op + "." + type.name, .sources = {}};
        for (unsigned k = 0; k < sources; ++k)
            setup.sources.push_back(samples(type, seed * 10 + k));
        const Outcome outcome = run(setup);
        for (unsigned i = 0; i < kWarpSize; ++i) {
            std::vector<Signed128> x;
            for (const auto& source : setup.sources) x.push_back(type.value(source[i]));
            x.resize(3);
            const uint64_t want = type.cut(formula(x[0], x[1], x[2]));
            if (outcome.dst[i] != want)
                FAIL(setup.mnemonic << std::hex << " of " << uint64_t(x[0]) << ", "
                                    << uint64_t(x[1]) << ", " << uint64_t(x[2]) << ": got "
                                    << outcome.dst[i] << ", want " << want);
        }
    }
}
}  // namespace

TEST_CASE("integer arithmetic: every type agrees with exact arithmetic cut to the width",
          "[machine][arith][slow]") {
    using S = Signed128;
    for (const IntType& type : kTypes) {
        compare("add", type, 2, [](S a, S b, S) { return a + b; });
        compare("sub", type, 2, [](S a, S b, S) { return a - b; });
        compare("mul.lo", type, 2, [](S a, S b, S) { return S(Unsigned128(a) * Unsigned128(b)); });
        compare("mad.lo", type, 3, [](S a, S b, S c) {
            return S(Unsigned128(a) * Unsigned128(b) + Unsigned128(c));
        });
        compare("min", type, 2, [](S a, S b, S) { return a < b ? a : b; });
        compare("max", type, 2, [](S a, S b, S) { return a > b ? a : b; });
        compare("sad", type, 3, [](S a, S b, S c) { return c + (a < b ? b - a : a - b); });
        if (type.bits < 64 || type.is_signed) {
            compare("mul.hi", type, 2, [&](S a, S b, S) { return (a * b) >> type.bits; });
            compare("mad.hi", type, 3, [&](S a, S b, S c) { return ((a * b) >> type.bits) + c; });
        } else {
            const auto high = [](S a, S b) { return S((Unsigned128(a) * Unsigned128(b)) >> 64); };
            compare("mul.hi", type, 2, [&](S a, S b, S) { return high(a, b); });
            compare("mad.hi", type, 3, [&](S a, S b, S c) { return high(a, b) + c; });
        }
        if (type.is_signed) {
            compare("abs", type, 1, [](S a, S, S) { return a < 0 ? -a : a; });
            compare("neg", type, 1, [](S a, S, S) { return -a; });
        }
    }
}

TEST_CASE("division: truncates towards zero, and by zero sets all bits", "[machine][arith]") {
    using S = Signed128;
    for (const IntType& type : kTypes) {
        compare("div", type, 2, [](S a, S b, S) { return b == 0 ? S(-1) : a / b; });
        compare("rem", type, 2, [](S a, S b, S) { return b == 0 ? S(-1) : a % b; });
    }
}

TEST_CASE("division: 32-bit quotients next to a multiple of the divisor are exact",
          "[machine][arith]") {
    std::mt19937 random(5);
    for (int round = 0; round < 400; ++round) {
        std::vector<uint64_t> a, b;
        for (unsigned i = 0; i < kWarpSize; ++i) {
            const uint32_t divisor = (uint32_t(random()) >> (random() % 32)) | 1;
            const uint32_t multiple = divisor * (0xffffffffu / divisor >> (random() % 32));
            a.push_back(uint32_t(multiple + int(i % 3) - 1));
            b.push_back(divisor);
        }
        ptx::Instruction instruction;
        ptx::Function function;
        const Setup setup{.mnemonic = "div.u32", .sources = {a, b}};
        build(setup, instruction, function);
        for (const auto level : levels()) {
            const auto selected = machine::select_arithmetic_for(level, instruction, function);
            const Outcome outcome = run_once(*selected, setup, kAllLanes, false);
            for (unsigned i = 0; i < kWarpSize; ++i)
                if (outcome.dst[i] != a[i] / b[i]) FAIL(a[i] << " / " << b[i]);
        }
    }
}

TEST_CASE("division: 64-bit operands that fit 32 bits, that do not, and mixtures",
          "[machine][arith]") {
    std::mt19937_64 random(6);
    for (const char* type : {"u64", "s64"})
        for (const unsigned wide_lane : {0u, 31u, 99u}) {  // 99: none
            std::vector<uint64_t> a, b;
            for (unsigned i = 0; i < kWarpSize; ++i) {
                a.push_back(random() >> (i == wide_lane ? 1 : 32 + i % 20));
                b.push_back(i == 5 ? 0 : (random() >> (33 + i % 31)) + 1);
            }
            const Outcome q = run({.mnemonic = std::string("div.") + type, .sources = {a, b}});
            const Outcome r = run({.mnemonic = std::string("rem.") + type, .sources = {a, b}});
            for (unsigned i = 0; i < kWarpSize; ++i) {
                CHECK(q.dst[i] == (b[i] ? a[i] / b[i] : ~uint64_t(0)));
                CHECK(r.dst[i] == (b[i] ? a[i] % b[i] : ~uint64_t(0)));
            }
        }
}

TEST_CASE("division: the most negative number by -1 wraps", "[machine][arith]") {
    check({
        {"div.s16", {0x8000, 0xffff}, 0x8000},
        {"rem.s16", {0x8000, 0xffff}, 0},
        {"div.s32", {0x80000000, 0xffffffff}, 0x80000000},
        {"rem.s32", {0x80000000, 0xffffffff}, 0},
        {"div.s64", {0x8000000000000000, ~uint64_t(0)}, 0x8000000000000000},
        {"rem.s64", {0x8000000000000000, ~uint64_t(0)}, 0},
        {"div.s32", {0x80000000, 1}, 0x80000000},
        {"div.s32", {uint32_t(-7), 2}, uint32_t(-3)},
        {"rem.s32", {uint32_t(-7), 2}, uint32_t(-1)},
        {"rem.s32", {7, uint32_t(-2)}, 1},
        {"div.u32", {5, 0}, 0xffffffff},
        {"rem.u64", {5, 0}, ~uint64_t(0)},
        {"div.s32", {uint32_t(-5), 0}, 0xffffffff},
    });
}

TEST_CASE("mul.wide and mad.wide: the product has twice the width", "[machine][arith]") {
    check({
        {"mul.wide.u16", {0xffff, 0xffff}, 0xfffe0001},
        {"mul.wide.s16", {0x8000, 0x8000}, 0x40000000},
        {"mul.wide.s16", {0xffff, 5}, uint32_t(-5)},
        {"mul.wide.u32", {0xffffffff, 0xffffffff}, 0xfffffffe00000001},
        {"mul.wide.s32", {0xffffffff, 7}, uint64_t(-7)},
        {"mul.wide.s32", {0x80000000, 0x80000000}, 0x4000000000000000},
        {"mad.wide.u32", {0xffffffff, 0xffffffff, 0x1ffffffff}, 0},
        {"mad.wide.s32", {0xffffffff, 7, 8}, 1},
        {"mad.wide.u16", {0xffff, 0xffff, 0x20000}, 0x1},
        {"mad.wide.s16", {0xffff, 1, 0}, 0xffffffff},
    });
}

TEST_CASE("mul24 and mad24: only 24 bits count, and hi takes bits 16 to 47", "[machine][arith]") {
    check({
        {"mul24.lo.u32", {0xff000002, 3}, 6},
        {"mul24.lo.u32", {0xffffff, 0xffffff}, 0xfe000001},
        {"mul24.hi.u32", {0xffffff, 0xffffff}, 0xfffffe00},
        {"mul24.lo.s32", {0x00ffffff, 5}, uint32_t(-5)},  // bit 23 is the sign
        {"mul24.hi.s32", {0x00ffffff, 5}, 0xffffffff},
        {"mul24.hi.s32", {0x400000, 0x400000}, 0x10000000},
        {"mad24.lo.u32", {2, 3, 0xffffffff}, 5},
        {"mad24.hi.s32", {0x400000, 0x400000, 1}, 0x10000001},
        {"mad24.hi.sat.s32", {0x400000, 0x400000, 0x7fffffff}, 0x7fffffff},
        {"mad24.hi.sat.s32", {0x00c00000, 0x400000, 0x80000000}, 0x80000000},
    });
}

TEST_CASE("saturation: signed 32-bit sums stop at the ends", "[machine][arith]") {
    check({
        {"add.sat.s32", {0x7fffffff, 1}, 0x7fffffff},
        {"add.sat.s32", {0x80000000, 0xffffffff}, 0x80000000},
        {"add.sat.s32", {0x7fffffff, 0x80000000}, 0xffffffff},
        {"sub.sat.s32", {0x80000000, 1}, 0x80000000},
        {"sub.sat.s32", {0x7fffffff, 0xffffffff}, 0x7fffffff},
        {"sub.sat.s32", {0, 0x80000000}, 0x7fffffff},
        {"sub.sat.s32", {5, 7}, uint32_t(-2)},
        {"mad.hi.sat.s32", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
        {"mad.hi.sat.s32", {0x80000000, 0x7fffffff, 0x80000000}, 0x80000000},
        {"mad.hi.sat.s32", {0x40000000, 8, 1}, 3},
    });
}

TEST_CASE("pairs of 16 bits: no carry passes between the halves", "[machine][arith]") {
    check({
        {"add.u16x2", {0x0001ffff, 0x00010001}, 0x00020000},
        {"add.s16x2", {0x7fff8000, 0x0001ffff}, 0x80007fff},
        {"min.s16x2", {0x0001ffff, 0xffff0001}, 0xffffffff},
        {"min.u16x2", {0x0001ffff, 0xffff0001}, 0x00010001},
        {"max.s16x2", {0x0001ffff, 0xffff0001}, 0x00010001},
        {"max.relu.s16x2", {0xfffeffff, 0xffff0005}, 0x00000005},
        {"min.relu.s32", {0xfffffff0, 5}, 0},
        {"max.relu.s32", {0xfffffff0, 5}, 5},
    });
}

TEST_CASE("dp4a and dp2a: signedness of each side and choice of half", "[machine][arith]") {
    check({
        {"dp4a.s32.s32", {0xff02ff04, 0x01020304, 100}, uint32_t(100 - 1 + 4 - 3 + 16)},
        {"dp4a.u32.u32", {0xff02ff04, 0x01020304, 100}, 100 + 255 + 4 + 765 + 16},
        {"dp4a.u32.s32", {0x000000ff, 0x000000ff, 0}, uint32_t(-255)},
        {"dp4a.s32.u32", {0x000000ff, 0x000000ff, 0}, uint32_t(-255)},
        {"dp2a.lo.s32.s32", {0xffff0002, 0x05060304, 10}, uint32_t(10 + 8 - 3)},
        {"dp2a.hi.s32.s32", {0xffff0002, 0x05060304, 10}, uint32_t(10 + 12 - 5)},
        {"dp2a.lo.u32.u32", {0xffff0002, 0x05060304, 10}, 10 + 8 + 65535 * 3},
        {"dp2a.hi.u32.s32", {0xffff0000, 0xff000000, 0}, uint32_t(-65535)},
    });
}

TEST_CASE("video: elements of 8 and 16 bits, saturated or summed up", "[machine][arith][video]") {
    check({
        {"vabsdiff4.u32.u32.u32", {0x01ff0380, 0x02000405, 99}, 0x01ff017b},
        {"vabsdiff4.u32.u32.u32.add", {0x01ff0380, 0x02000405, 99}, 99 + 1 + 255 + 1 + 123},
        {"vabsdiff4.u32.s32.s32", {0x000000ff, 0x00000001, 0}, 2},
        {"vabsdiff2.u32.u32.u32.add", {0x00050001, 0x00020003, 10}, 15},
        {"vadd4.u32.u32.u32", {0xff01ff01, 0x01010202, 0}, 0x00020103},
        {"vadd4.u32.u32.u32.sat", {0xff01ff01, 0x01010202, 0}, 0xff02ff03},
        {"vadd2.s32.s32.s32.sat", {0x7fff8000, 0x0001ffff, 0}, 0x7fff8000},
        {"vadd2.s32.s32.s32.add", {0xffff0001, 0xffff0001, 100}, 100},
        {"vsub2.u32.u32.u32.sat", {0x00010005, 0x00020003, 0}, 0x00000002},
        {"vsub4.s32.u32.u32", {0x00000001, 0x00000002, 0}, 0x000000ff},
        {"vavrg4.u32.u32.u32", {0x01020304, 0x02020304, 0}, 0x02020304},
        {"vavrg2.s32.s32.s32", {0xfffdffff, 0xfffefffe, 0}, 0xfffdfffe},
        {"vmin4.s32.s32.s32", {0xff010203, 0x00000000, 0}, 0xff000000},
        {"vmax4.u32.u32.u32", {0xff010203, 0x00020001, 0}, 0xff020203},
        {"vmax2.s32.s32.s32", {0xffff0005, 0x00000004, 0}, 0x00000005},
        {"vset4.u32.u32.eq", {0x01020304, 0x01000300, 0}, 0x01000100},
        {"vset4.u32.u32.ne.add", {0x01020304, 0x01000300, 7}, 9},
        {"vset2.s32.s32.lt", {0xffff0001, 0x00000001, 0}, 0x00010000},
        {"vset2.u32.u32.ge", {0xffff0001, 0x00000001, 0}, 0x00010001},
    });
}

TEST_CASE("carry: add.cc and addc make a sum of any length", "[machine][arith]") {
    const auto step = [](const char* mnemonic, uint64_t a, uint64_t b, uint32_t carry) {
        Setup setup{.mnemonic = mnemonic, .sources = {{a}, {b}}};
        setup.carry = carry;
        return run(setup);
    };
    Outcome outcome = step("add.cc.u32", 0xffffffff, 1, 0);
    CHECK(outcome.dst[0] == 0);
    CHECK(outcome.carry == kAllLanes);
    outcome = step("addc.cc.u32", 0xffffffff, 0, kAllLanes);
    CHECK(outcome.dst[0] == 0);
    CHECK(outcome.carry == kAllLanes);
    outcome = step("addc.u32", 5, 6, kAllLanes);
    CHECK(outcome.dst[0] == 12);
    CHECK(outcome.carry == kAllLanes);  // without .cc it stays
    outcome = step("addc.cc.u32", 5, 6, 0);
    CHECK(outcome.dst[0] == 11);
    CHECK(outcome.carry == 0);
    outcome = step("add.cc.u64", ~uint64_t(0), 2, 0);
    CHECK(outcome.dst[0] == 1);
    CHECK(outcome.carry == kAllLanes);
    // Each lane has a carry of its own.
    outcome = step("addc.u32", 5, 6, 0x00000002);
    CHECK(outcome.dst[0] == 11);
    CHECK(outcome.dst[1] == 12);
}

TEST_CASE("carry: sub.cc and subc borrow", "[machine][arith]") {
    const auto step = [](const char* mnemonic, uint64_t a, uint64_t b, uint32_t carry) {
        Setup setup{.mnemonic = mnemonic, .sources = {{a}, {b}}};
        setup.carry = carry;
        return run(setup);
    };
    // The flag is that of a + ~b + 1: set when nothing was borrowed (measured on an H200).
    Outcome outcome = step("sub.cc.u32", 0, 1, 0);
    CHECK(outcome.dst[0] == 0xffffffff);
    CHECK(outcome.carry == 0);
    outcome = step("subc.cc.u32", 0, 0, 0);
    CHECK(outcome.dst[0] == 0xffffffff);
    CHECK(outcome.carry == 0);
    outcome = step("subc.cc.u32", 5, 5, kAllLanes);
    CHECK(outcome.dst[0] == 0);
    CHECK(outcome.carry == kAllLanes);
    outcome = step("subc.u64", 7, 5, 0);
    CHECK(outcome.dst[0] == 1);
    outcome = step("sub.cc.s64", 7, 5, 0);
    CHECK(outcome.dst[0] == 2);
    CHECK(outcome.carry == kAllLanes);
}

TEST_CASE("carry: addc after sub.cc adds one when nothing was borrowed", "[machine][arith]") {
    Setup setup{.mnemonic = "sub.cc.u32", .sources = {{1}, {0}}};
    const uint32_t after_one_minus_zero = run(setup).carry;
    setup.sources = {{0}, {1}};
    const uint32_t after_zero_minus_one = run(setup).carry;
    Setup add{.mnemonic = "addc.u32", .sources = {{0}, {0}}};
    add.carry = after_one_minus_zero;
    CHECK(run(add).dst[0] == 1);
    add.carry = after_zero_minus_one;
    CHECK(run(add).dst[0] == 0);
}

TEST_CASE("carry: mad.cc and madc multiply 64-bit numbers by 32-bit parts", "[machine][arith]") {
    std::mt19937_64 random(9);
    for (int round = 0; round < 20; ++round) {
        const uint64_t a = random(), b = random();
        const uint64_t a0 = uint32_t(a), a1 = a >> 32, b0 = uint32_t(b), b1 = b >> 32;
        const auto step =
            [&](const char* mnemonic, uint64_t x, uint64_t y, uint64_t z, uint32_t& carry) {
                Setup setup{.mnemonic = mnemonic, .sources = {{x}, {y}, {z}}};
                setup.carry = carry;
                const Outcome outcome = run(setup);
                carry = outcome.carry;
                return outcome.dst[0];
            };
        uint32_t carry = 0;
        uint64_t r0 = a0 * b0 & 0xffffffff;
        uint64_t r1 = (a0 * b0) >> 32, r2 = 0, r3 = 0;
        r1 = step("mad.lo.cc.u32", a0, b1, r1, carry);
        r2 = step("madc.hi.u32", a0, b1, 0, carry);
        r1 = step("mad.lo.cc.u32", a1, b0, r1, carry);
        r2 = step("madc.hi.cc.u32", a1, b0, r2, carry);
        r3 = step("madc.hi.u32", a1, b1, 0, carry);
        r2 = step("mad.lo.cc.u32", a1, b1, r2, carry);
        Setup last{.mnemonic = "addc.u32", .sources = {{r3}, {0}}};
        last.carry = carry;
        r3 = run(last).dst[0];
        const Unsigned128 want = Unsigned128(a) * b;
        CHECK((r0 | r1 << 32) == uint64_t(want));
        CHECK((r2 | r3 << 32) == uint64_t(want >> 64));
    }
    check({{"mad.hi.cc.s32", {0xffffffff, 2, 0}, 0xffffffff},
           {"madc.hi.s64", {~uint64_t(0), 2, 0}, ~uint64_t(0)}});
}
