// SPDX-License-Identifier: MIT
// A product that only the next addition uses runs as one multiply-add, with the values and
// counts of both; wherever that would change a value, each runs by itself.
#include "machine_lab.h"

using namespace machine_lab;

namespace {

uint32_t low(uint64_t value) {
    return uint32_t(value);
}
uint32_t high(uint64_t value) {
    return uint32_t(value >> 32);
}

// Lane i's result of PTX that leaves it in %rd1, folded into one word.
std::vector<uint32_t> folded(const std::string& body) {
    Lab lab;
    lab.run(body + "mov.b64 {%r8, %r9}, %rd1;\nmad.lo.u32 %r8, %r9, 31, %r8;\n"
                   "st.global.u32 [%mine], %r8;");
    return lab.words();
}
std::vector<uint32_t> expected(uint64_t (*value)(uint32_t)) {
    return each([&](uint32_t i) { return low(value(i)) + 31 * high(value(i)); });
}

}  // namespace

TEST_CASE("fusion: a wide signed product keeps its sign", "[machine][fusion]") {
    const auto got = folded("sub.u32 %r1, %tid, 16;\nmov.u64 %rd3, 5;\n"
                            "mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd3, %rd2;\n");
    CHECK(got == expected([](uint32_t i) { return uint64_t(5 + (int64_t(i) - 16) * 4); }));
}

TEST_CASE("fusion: a wide unsigned product keeps its upper half", "[machine][fusion]") {
    const auto got = folded("sub.u32 %r1, %tid, 16;\nmov.u64 %rd3, 5;\n"
                            "mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd1, %rd2, %rd3;\n");
    CHECK(got == expected([](uint32_t i) { return 5 + uint64_t(i - 16) * 8; }));
}

TEST_CASE("fusion: a shift of 64 bits by a constant", "[machine][fusion]") {
    const auto got = folded("cvt.u64.u32 %rd2, %tid;\nshl.b64 %rd4, %rd2, 33;\n"
                            "add.s64 %rd1, %rd4, %rd2;\n");
    CHECK(got == expected([](uint32_t i) { return (uint64_t(i) << 33) + i; }));
}

TEST_CASE("fusion: a shift of 32 bits wraps", "[machine][fusion]") {
    Lab lab;
    lab.run("shl.b32 %r1, %tid, 30;\nadd.u32 %r2, %r1, %tid;\nst.global.u32 [%mine], %r2;");
    CHECK(lab.words() == each([](uint32_t i) { return (i << 30) + i; }));
}

TEST_CASE("fusion: a product that is used twice stays", "[machine][fusion]") {
    Lab lab;
    lab.run("mul.lo.u32 %r1, %tid, 6;\nadd.u32 %r2, %r1, 1;\nxor.b32 %r3, %r1, %r2;\n"
            "st.global.u32 [%mine], %r3;");
    CHECK(lab.words() == each([](uint32_t i) { return (6 * i) ^ (6 * i + 1); }));
}

TEST_CASE("fusion: not past a change of what the product read", "[machine][fusion]") {
    Lab lab;
    lab.run("mov.u32 %r1, %tid;\nmul.lo.u32 %r2, %r1, 3;\nadd.u32 %r1, %r1, 100;\n"
            "add.u32 %r3, %r2, 7;\nadd.u32 %r3, %r3, %r1;\nst.global.u32 [%mine], %r3;");
    CHECK(lab.words() == each([](uint32_t i) { return 3 * i + 7 + i + 100; }));
}

TEST_CASE("fusion: not into a place that is jumped to", "[machine][fusion]") {
    // The second time round, the product is the old one although what it read has changed.
    Lab lab;
    lab.run("mov.u32 %r5, %tid;\nmov.u32 %r4, 0;\nmul.lo.u32 %r1, %r5, 3;\nAGAIN:\n"
            "add.u32 %r3, %r1, 7;\nmov.u32 %r5, 50;\nadd.u32 %r4, %r4, 1;\n"
            "setp.lt.u32 %p1, %r4, 2;\n@%p1 bra AGAIN;\nst.global.u32 [%mine], %r3;");
    CHECK(lab.words() == each([](uint32_t i) { return 3 * i + 7; }));
}

TEST_CASE("fusion: a guarded addition is made by its lanes only", "[machine][fusion]") {
    Lab lab;
    lab.run("mov.u32 %r3, 9;\nsetp.lt.u32 %p1, %tid, 8;\nmul.lo.u32 %r1, %tid, 3;\n"
            "@%p1 add.u32 %r3, %r1, 1;\nst.global.u32 [%mine], %r3;");
    CHECK(lab.words() == each([](uint32_t i) { return i < 8 ? 3 * i + 1 : 9; }));
}

TEST_CASE("fusion: a saturating addition stays", "[machine][fusion]") {
    Lab lab;
    lab.run("mul.lo.s32 %r1, %tid, 100000000;\nadd.sat.s32 %r2, %r1, 2147483647;\n"
            "st.global.u32 [%mine], %r2;");
    CHECK(lab.words() == each([](uint32_t i) {
              const int64_t sum = int64_t(int32_t(i * 100000000u)) + 2147483647;
              return uint32_t(std::min<int64_t>(sum, 2147483647));
          }));
}

TEST_CASE("fusion: both instructions are counted", "[machine][fusion]") {
    Lab lab;
    lab.run("setp.lt.u32 %p1, %tid, 40;\n@!%p1 bra END;\nmul.wide.u32 %rd2, %tid, 4;\n"
            "add.s64 %rd3, %rd2, 16;\nxor.b64 %rd4, %rd3, 1;\nEND:\n",
            {.grid = {2, 1, 1}, .block = {96, 1, 1}});
    for (const char* opcode : {"mul.wide.u32", "add.s64", "xor.b64"}) {
        CAPTURE(opcode);
        CHECK(lab.seen.executed(opcode) == 2 * 2);
        CHECK(lab.seen.executed_threads(opcode) == 2 * 40);
    }
}
