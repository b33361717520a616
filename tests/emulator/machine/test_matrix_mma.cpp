// SPDX-License-Identifier: MIT
// mma with halves, bfloat16, tf32, bytes and 8-bit floats.
#include "matrix_lab.h"

using namespace matrix_lab;

TEST_CASE("mma: halves and bfloat16", "[machine][matrix]") {
    const Layout a16 = [](int lane, int i) {
        const bool upper_row = i == 2 || i == 3 || i == 6 || i == 7;
        return At{(lane >> 2) + (upper_row ? 8 : 0), (lane & 3) * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    };
    const Layout b16 = [](int lane, int i) {
        return At{(lane & 3) * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane >> 2};
    };
    const Layout a8 = [](int lane, int i) {
        return At{(lane >> 2) + (i < 2 ? 0 : 8), (lane & 3) * 2 + (i & 1)};
    };
    const Layout b8 = [](int lane, int i) { return At{(lane & 3) * 2 + i, lane >> 2}; };
    check({"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
           16,
           8,
           16,
           &kHalf,
           &kHalf,
           &kFloat,
           &kFloat,
           4,
           2,
           4,
           4,
           a16,
           b16,
           c_16x8});
    check({"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
           16,
           8,
           16,
           &kHalf,
           &kHalf,
           &kHalf,
           &kHalf,
           4,
           2,
           2,
           2,
           a16,
           b16,
           c_16x8});
    check({"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
           16,
           8,
           16,
           &kBf16,
           &kBf16,
           &kFloat,
           &kFloat,
           4,
           2,
           4,
           4,
           a16,
           b16,
           c_16x8});
    check({"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
           16,
           8,
           8,
           &kHalf,
           &kHalf,
           &kFloat,
           &kFloat,
           2,
           1,
           4,
           4,
           a8,
           b8,
           c_16x8});
    check({"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
           16,
           8,
           8,
           &kBf16,
           &kBf16,
           &kFloat,
           &kFloat,
           2,
           1,
           4,
           4,
           a8,
           b8,
           c_16x8});
}

TEST_CASE("mma: tf32", "[machine][matrix]") {
    const Layout a4 = [](int lane, int i) { return At{(lane >> 2) + 8 * i, lane & 3}; };
    const Layout b4 = [](int lane, int) { return At{lane & 3, lane >> 2}; };
    const Layout a8 = [](int lane, int i) {
        return At{(lane >> 2) + (i == 1 || i == 3 ? 8 : 0), (lane & 3) + (i >= 2 ? 4 : 0)};
    };
    const Layout b8 = [](int lane, int i) { return At{(lane & 3) + 4 * i, lane >> 2}; };
    check({"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
           16,
           8,
           4,
           &kTf32,
           &kTf32,
           &kFloat,
           &kFloat,
           2,
           1,
           4,
           4,
           a4,
           b4,
           c_16x8});
    check({"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
           16,
           8,
           8,
           &kTf32,
           &kTf32,
           &kFloat,
           &kFloat,
           4,
           2,
           4,
           4,
           a8,
           b8,
           c_16x8});
}

TEST_CASE("mma: C and D of two types only where PTX has that", "[machine][matrix]") {
    const std::string two = "{%r0, %r1}, ", four = "{%r0, %r1, %r2, %r3}, ",
                      eight = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, ";
    const auto run = [](const std::string& form, std::string operands) {
        operands.resize(operands.size() - 2);  // the last comma
        Lab().run("mma.sync.aligned." + form + " " + operands + ";");
    };
    CHECK_NOTHROW(run("m8n8k4.row.col.f32.f16.f16.f16", eight + two + two + four));
    CHECK_THROWS_AS(run("m8n8k4.row.col.f16.f16.f16.f32", four + two + two + eight),
                    UnsupportedPtx);
    CHECK_NOTHROW(run("m16n8k8.row.col.f32.f16.f16.f32", four + two + "%r8, " + four));
    CHECK_THROWS_AS(run("m16n8k8.row.col.f32.f16.f16.f16", four + two + "%r8, " + two),
                    UnsupportedPtx);
}

TEST_CASE("mma: bytes, signed and not, and 8-bit floats", "[machine][matrix]") {
    const Layout a16 = [](int lane, int i) {
        return At{(lane >> 2) + (i < 4 ? 0 : 8), (lane & 3) * 4 + (i & 3)};
    };
    const Layout b16 = [](int lane, int i) { return At{(lane & 3) * 4 + i, lane >> 2}; };
    const Layout a32 = [](int lane, int i) {
        const bool upper_row = (i >= 4 && i < 8) || i >= 12;
        return At{(lane >> 2) + (upper_row ? 8 : 0), (lane & 3) * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    };
    const Layout b32 = [](int lane, int i) {
        return At{(lane & 3) * 4 + (i & 3) + (i >= 4 ? 16 : 0), lane >> 2};
    };
    const Layout a8 = [](int lane, int i) { return At{lane >> 2, (lane & 3) * 4 + i}; };
    check({"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32",
           16,
           8,
           16,
           &kByte,
           &kByte,
           &kInt,
           &kInt,
           2,
           1,
           4,
           4,
           a16,
           b16,
           c_16x8,
           -128,
           127});
    check({"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32",
           16,
           8,
           32,
           &kByte,
           &kByte,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a32,
           b32,
           c_16x8,
           0,
           255});
    check({"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
           16,
           8,
           32,
           &kByte,
           &kByte,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a32,
           b32,
           c_16x8,
           0,
           127});
    check({"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
           8,
           8,
           16,
           &kByte,
           &kByte,
           &kInt,
           &kInt,
           1,
           1,
           2,
           2,
           a8,
           b16,
           c_8x8,
           -128,
           127});
    check({"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
           16,
           8,
           32,
           &kE4m3,
           &kE5m2,
           &kFloat,
           &kFloat,
           4,
           2,
           4,
           4,
           a32,
           b32,
           c_16x8,
           -2,
           2});
    check({"mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32",
           16,
           8,
           16,
           &kE5m2,
           &kE5m2,
           &kFloat,
           &kFloat,
           2,
           1,
           4,
           4,
           a16,
           b16,
           c_16x8,
           -2,
           2});
}
