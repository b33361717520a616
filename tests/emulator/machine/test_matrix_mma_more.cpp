// SPDX-License-Identifier: MIT
// mma with nibbles, bits and doubles, of eight lanes, and at the edges of the formats.
#include "matrix_lab.h"

using namespace matrix_lab;

TEST_CASE("mma: nibbles and bits", "[machine][matrix]") {
    const Layout a64 = [](int lane, int i) {
        const bool upper_row = (i >= 8 && i < 16) || i >= 24;
        return At{(lane >> 2) + (upper_row ? 8 : 0), (lane & 3) * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
    };
    const Layout b64 = [](int lane, int i) {
        return At{(lane & 3) * 8 + (i & 7) + (i >= 8 ? 32 : 0), lane >> 2};
    };
    check({"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
           16,
           8,
           64,
           &kNibble,
           &kNibble,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a64,
           b64,
           c_16x8,
           -8,
           7});
    const Layout a32 = [](int lane, int i) { return At{lane >> 2, (lane & 3) * 8 + i}; };
    const Layout b32 = [](int lane, int i) { return At{(lane & 3) * 8 + i, lane >> 2}; };
    check({"mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32",
           8,
           8,
           32,
           &kNibble,
           &kNibble,
           &kInt,
           &kInt,
           1,
           1,
           2,
           2,
           a32,
           b32,
           c_8x8,
           0,
           15});
    const Layout a256 = [](int lane, int i) {
        const int block = i / 32;
        return At{(lane >> 2) + (block % 2 ? 8 : 0),
                  (lane & 3) * 32 + i % 32 + (block >= 2 ? 128 : 0)};
    };
    const Layout b256 = [](int lane, int i) {
        return At{(lane & 3) * 32 + i % 32 + (i >= 32 ? 128 : 0), lane >> 2};
    };
    check({"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
           16,
           8,
           256,
           &kBit,
           &kBit,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a256,
           b256,
           c_16x8,
           0,
           1,
           Case::kXor});
    check({"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
           16,
           8,
           256,
           &kBit,
           &kBit,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a256,
           b256,
           c_16x8,
           0,
           1,
           Case::kAnd});
}

TEST_CASE("mma: doubles", "[machine][matrix]") {
    const Layout a8 = [](int lane, int) { return At{lane >> 2, lane & 3}; };
    const Layout b8 = [](int lane, int) { return At{lane & 3, lane >> 2}; };
    check({"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
           8,
           8,
           4,
           &kDouble,
           &kDouble,
           &kDouble,
           &kDouble,
           1,
           1,
           2,
           2,
           a8,
           b8,
           c_8x8});
    const Layout a16 = [](int lane, int i) {
        return At{(lane >> 2) + (i % 2 ? 8 : 0), (i / 2) * 4 + (lane & 3)};
    };
    const Layout b16 = [](int lane, int i) { return At{i * 4 + (lane & 3), lane >> 2}; };
    check({"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
           16,
           8,
           16,
           &kDouble,
           &kDouble,
           &kDouble,
           &kDouble,
           8,
           4,
           4,
           4,
           a16,
           b16,
           c_16x8});
}

TEST_CASE("mma.m8n8k4 with halves: four matrices, each of eight lanes", "[machine][matrix]") {
    const auto quad = [](int lane) { return lane % 16 / 4; };
    const Layout a_row = [](int lane, int i) { return At{lane % 4 + (lane < 16 ? 0 : 4), i}; };
    const Layout a_col = [](int lane, int i) { return At{i % 4 + (lane < 16 ? 0 : 4), lane % 4}; };
    const Layout b_row = [](int lane, int i) { return At{lane % 4, i + (lane < 16 ? 0 : 4)}; };
    const Layout b_col = [](int lane, int i) { return At{i, lane % 4 + (lane < 16 ? 0 : 4)}; };
    const Layout c_float = [](int lane, int i) {
        const int x = (lane & 1) + (i & 2);
        return At{lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1)};
    };
    const Layout c_half = [](int lane, int i) { return At{lane % 4 + (lane < 16 ? 0 : 4), i}; };
    for (const bool a : {false, true})
        for (const bool b : {false, true}) {
            const std::string layouts = std::string(a ? ".col" : ".row") + (b ? ".col" : ".row");
            check({"mma.sync.aligned.m8n8k4" + layouts + ".f32.f16.f16.f32",
                   8,
                   8,
                   4,
                   &kHalf,
                   &kHalf,
                   &kFloat,
                   &kFloat,
                   2,
                   2,
                   8,
                   8,
                   a ? a_col : a_row,
                   b ? b_col : b_row,
                   c_float},
                  4,
                  quad);
            check({"mma.sync.aligned.m8n8k4" + layouts + ".f16.f16.f16.f16",
                   8,
                   8,
                   4,
                   &kHalf,
                   &kHalf,
                   &kHalf,
                   &kHalf,
                   2,
                   2,
                   4,
                   4,
                   a ? a_col : a_row,
                   b ? b_col : b_row,
                   c_half},
                  4,
                  quad);
        }
}

TEST_CASE("mma: saturation, wrap, and what is not a number", "[machine][matrix]") {
    const auto run = [](const std::string& mnemonic, uint32_t ab, uint32_t c) {
        Lab lab;
        const std::string text = std::to_string(ab);
        REQUIRE(lab.run("mov.b32 %r1, " + text + ";\nmov.b32 %r2, " + std::to_string(c) + ";\n" +
                        mnemonic + ";\nst.global.b32 [%mine], %r10;")
                    .status == LaunchStatus::kOk);
        return lab.got(0);
    };
    const std::string bytes = ".s32.s8.s8.s32 {%r10, %r11}, {%r1}, {%r1}, {%r2, %r2}";
    const std::string shape = "mma.sync.aligned.m8n8k16.row.col";
    CHECK(run(shape + ".satfinite" + bytes, 0x7f7f7f7f, 0x7ffffff0) == 0x7fffffff);
    CHECK(run(shape + bytes, 0x7f7f7f7f, 0x7ffffff0) == 0x7ffffff0u + 16 * 127 * 127);
    const std::string floats =
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, {%r1, %r1}, "
        "{%r1}, {%r2, %r2, %r2, %r2}";
    CHECK(run(floats, 0x7e007e00, 0) == 0x7fffffff);           // NaN
    CHECK(run(floats, 0x7c007c00, 0xff800000) == 0x7fffffff);  // infinity - infinity
    CHECK(run(floats, 0x7c007c00, 0) == 0x7f800000);
    CHECK(run(floats, 0x80008000, 0x80000000) == 0);  // 0 * 0 - 0
    // 2^-24 squared, eight times, beside 1: lost; the sum of many halves is rounded once.
    CHECK(run(floats, 0x00010001, 0x3f800000) == 0x3f800000);
    CHECK(run(floats, 0x3c003c00, 0x4b800000) == 0x4b800004);  // 2^24 + 8
}
