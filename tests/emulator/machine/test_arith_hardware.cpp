// SPDX-License-Identifier: MIT
// Results that an H200 gives where PTX leaves them open or the text is easily misread: found by
// the random kernels of tests/hardware, each of which a card disagreed about once.
#include "arith_lab.h"

using namespace lab;

namespace {
constexpr uint64_t kCanonicalNan = 0x7fffffff, kCanonicalHalfNan = 0x7fff;
constexpr uint64_t kA = 0x7ff41e3cc3b8b6f8, kB = 0xfff27a110a7db558, kC = 0x7ff99beb70910a48;
constexpr uint64_t kQuietBit = uint64_t(1) << 51, kOne = 0x3ff0000000000000;
}  // namespace

TEST_CASE("f64 NaN: the second operand's, else the third's, else the first's, quieted",
          "[machine][arith][hardware]") {
    check({
        {"add.rn.f64", {kA, kB}, kB | kQuietBit},
        {"add.rn.f64", {kA, kOne}, kA | kQuietBit},
        {"sub.rm.f64", {kOne, kB}, kB | kQuietBit},
        {"sub.rn.f64", {kA, kB}, kB | kQuietBit},
        {"mul.rz.f64", {kA, kB}, kB | kQuietBit},
        {"fma.rn.f64", {kA, kB, kC}, kB | kQuietBit},
        {"fma.rn.f64", {kA, kOne, kC}, kC},
        {"fma.rp.f64", {kA, kOne, kOne}, kA | kQuietBit},
        {"min.f64", {kA, kA}, kA | kQuietBit},
        {"max.f64", {kA, kOne}, kOne},
        {"neg.f64", {kA}, kA | kQuietBit},
        {"abs.f64", {kB}, kB | kQuietBit},
    });
}

TEST_CASE("neg and abs of a NaN give the canonical one, except for f64",
          "[machine][arith][hardware]") {
    check({
        {"neg.f32", {0x7fdceeeb}, kCanonicalNan},
        {"abs.f32", {0xff85967c}, kCanonicalNan},
        {"abs.ftz.f32", {0xffffac85}, kCanonicalNan},
        {"neg.f16", {0xfccb}, kCanonicalHalfNan},
        {"abs.bf16", {0xffce}, kCanonicalHalfNan},
        {"neg.f16x2", {0xfdbe3c00}, 0x7fffbc00},
    });
}

TEST_CASE("cvt keeps what fits of a NaN where the formats differ in width",
          "[machine][arith][hardware]") {
    check({
        {"cvt.rn.f32.f64", {0xfffe0c3d00000000}, 0xfff061e8},
        {"cvt.rz.f32.f64", {0x7ff4000000000000}, 0x7fe00000},
        {"cvt.rm.f16.f64", {0xfffb000000000000}, 0xfec0},
        {"cvt.ftz.f64.f32", {0xff85967c}, 0x7fffffffe0000000},
        {"cvt.rna.tf32.f32", {0xffa479af}, 0xffa46000},
        {"cvt.f32.bf16", {0xff98}, 0xff980000},
        {"cvt.rn.f16.f32", {0xff85967c}, kCanonicalHalfNan},
    });
}

TEST_CASE(".ftz: the smallest normal number only if rounding to full precision gives it",
          "[machine][arith][hardware]") {
    const uint64_t least = 0x00800000, half_least = 0x0400;
    check({
        // 2^-126 (1 - 2^-24): rounds up to 2^-126 among subnormals, and down with 24 bits.
        {"mul.rn.ftz.f32", {0x3f7fffff, least}, 0},
        {"mul.rn.f32", {0x3f7fffff, least}, least},
        {"mul.rp.ftz.f32", {0x3f7fffff, least}, 0},
        {"fma.rn.ftz.f16", {0x3bff, half_least, 0}, 0},
        {"fma.rn.f16", {0x3bff, half_least, 0}, half_least},
        // 2^-14 - 2^-28: so close that 11 bits give 2^-14.
        {"fma.rn.ftz.f16", {0x8011, 0x0009, half_least}, half_least},
        {"mul.rn.ftz.f16", {0xbbff, half_least}, 0x8000},
    });
}

TEST_CASE("SIMD video with .add sums whole elements", "[machine][arith][hardware][video]") {
    check({
        {"vadd4.u32.u32.u32.add", {0xffffffff, 0xffffffff, 1}, 4 * 510 + 1},
        {"vsub2.u32.u32.u32.add", {0, 0x00010001, 10}, 8},
        {"vabsdiff2.s32.s32.s32.add", {0x80008000, 0x7fff7fff, 0}, 2 * 65535},
    });
}

TEST_CASE("64-bit bfe and bfi read the whole position and length", "[machine][arith][hardware]") {
    check({
        {"bfe.u64", {0x8000000000000000, 0x80000000, 32}, 0},
        {"bfe.u64", {0x0000100000000000, 9, 0x80000000}, 0x0000000800000000},
        {"bfe.s64", {0x8000000000000000, 0x80000000, 1}, ~uint64_t(0)},
        {"bfi.b64", {~uint64_t(0), 0x7fffffffffffffff, 0, 0x1ce53f1a}, ~uint64_t(0)},
        {"bfe.u32", {0x80000000, 0x100, 0x120}, 0x80000000},
    });
}
