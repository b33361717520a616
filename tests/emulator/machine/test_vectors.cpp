// SPDX-License-Identifier: MIT
// Vectors of 32 bytes, vector and 128-bit atomics, and the stack of alloca.
#include <cmath>

#include "machine_lab.h"

using namespace machine_lab;

TEST_CASE("32 bytes at once: v8.b32 and v4.b64", "[machine][access]") {
    Lab lab;
    for (uint32_t i = 0; i < 256; ++i) lab.give(i, i * 7 + 1);
    // The address register is among the results, once in each half.
    lab.run("mad.wide.u32 %rd1, %lane, 32, %in;\nmov.u64 %rd5, %rd1;\nmov.u64 %rd9, %rd1;\n"
            "ld.global.v4.b64 {%rd9, %rd2, %rd3, %rd4}, [%rd9];\n"
            "ld.global.v4.u64 {%rd6, %rd7, %rd5, %rd8}, [%rd5];\n"
            "mad.wide.u32 %rd10, %lane, 32, %out;\n"
            "st.global.v4.b64 [%rd10], {%rd9, %rd2, %rd5, %rd8};\n"
            "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];\n"
            "add.u32 %r8, %r8, 1;\n"
            "st.global.v8.b32 [%rd10+1024], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};");
    for (uint32_t i = 0; i < 256; ++i) {
        CAPTURE(i);
        REQUIRE(lab.got(i) == i * 7 + 1);
        const uint32_t from = i / 8 * 8 + 7 - i % 8;
        REQUIRE(lab.got(256 + i) == from * 7 + 1 + (i % 8 == 0));
    }
}

TEST_CASE("vector atomics: every element by itself, the old ones given back",
          "[machine][atomics]") {
    Lab lab;
    lab.give(0, 1.5f);
    lab.give(1, -2.0f);
    lab.run("mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\n"
            "atom.global.v2.f32.add {%f3, %f4}, [%in], {%f1, %f2};\n"
            "mad.wide.u32 %rd1, %lane, 8, %out;\nst.global.v2.f32 [%rd1], {%f3, %f4};\n"
            "red.v4.f32.add [%in+16], {%f1, %f2, %f1, %f2};");  // generic: atomicAdd of float4
    float now[8];
    std::memcpy(now, lab.in().host, sizeof now);
    CHECK(now[0] == 33.5f);
    CHECK(now[1] == 62.0f);
    CHECK(now[4] == 32.0f);
    CHECK(now[7] == 64.0f);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        CHECK(lab.got<float>(2 * lane) == 1.5f + float(lane));
        CHECK(lab.got<float>(2 * lane + 1) == -2.0f + 2 * float(lane));
    }
    REQUIRE(lab.seen.accesses.size() >= 1);
    CHECK(lab.seen.accesses[0].kind == AccessKind::kAtomic);
    CHECK(lab.seen.accesses[0].bytes == 8);
    CHECK(lab.seen.accesses[0].element_bytes == 4);
}

TEST_CASE("vector atomics on halves: sums, least and largest, NaN", "[machine][atomics]") {
    Lab lab;
    const uint16_t start[] = {0x3c00, 0xbc00, 0x7e00, 0x8000};  // 1, -1, NaN, -0
    for (size_t i = 0; i < 4; ++i) {
        lab.give(i, start[i]);
        lab.give(8 + i, start[i]);
        lab.give(16 + i, start[i]);
    }
    lab.run("setp.ne.u32 %p1, %lane, 0;\n@%p1 bra END;\n"
            "mov.b16 %rs1, 0x4000;\nmov.b16 %rs2, 0xc000;\nmov.b16 %rs3, 0x3c00;\n"
            "mov.b16 %rs4, 0x0000;\n"
            "red.global.v4.f16.add.noftz [%in], {%rs1, %rs2, %rs3, %rs4};\n"
            "red.global.v4.f16.min.noftz [%in+16], {%rs1, %rs2, %rs3, %rs4};\n"
            "atom.global.v4.f16.max.noftz {%rs5, %rs6, %rs7, %rs8}, [%in+32], "
            "{%rs1, %rs2, %rs3, %rs4};\nst.global.v4.b16 [%out], {%rs5, %rs6, %rs7, %rs8};\nEND:");
    uint16_t now[24];
    std::memcpy(now, lab.in().host, sizeof now);
    const uint16_t sum[] = {0x4200, 0xc200, 0x7fff, 0x0000};
    const uint16_t least[] = {0x3c00, 0xc000, 0x3c00, 0x8000};
    const uint16_t largest[] = {0x4000, 0xbc00, 0x3c00, 0x0000};
    for (size_t i = 0; i < 4; ++i) {
        CAPTURE(i);
        CHECK(now[i] == sum[i]);
        CHECK(now[8 + i] == least[i]);
        CHECK(now[16 + i] == largest[i]);
        CHECK(lab.got<uint16_t>(i) == start[i]);
    }
}

TEST_CASE("atomics of 128 bits: exchange, and compare and swap of all of it",
          "[machine][atomics]") {
    Lab lab;
    for (uint64_t i = 0; i < 4; ++i) lab.give(i, i + 1);
    lab.run(
        ".reg .b128 %x<6>;\nsetp.ne.u32 %p1, %lane, 0;\n@%p1 bra END;\n"
        "mov.u64 %rd1, 1;\nmov.u64 %rd2, 2;\nmov.u64 %rd3, 77;\nmov.u64 %rd4, 78;\n"
        "mov.b128 %x1, {%rd1, %rd2};\nmov.b128 %x2, {%rd3, %rd4};\nmov.b128 %x5, {%rd1, %rd3};\n"
        "atom.global.cas.b128 %x3, [%in], %x1, %x2;\n"
        "atom.global.exch.b128 %x4, [%in+16], %x1;\n"
        "mov.b128 {%rd5, %rd6}, %x3;\nmov.b128 {%rd7, %rd8}, %x4;\n"
        "st.global.v2.u64 [%out], {%rd5, %rd6};\nst.global.v2.u64 [%out+16], {%rd7, %rd8};\n"
        "atom.global.cas.b128 %x3, [%in+16], %x5, %x2;\nEND:");  // only half of it equal
    uint64_t now[4];
    std::memcpy(now, lab.in().host, sizeof now);
    CHECK(now[0] == 77);
    CHECK(now[1] == 78);
    CHECK(now[2] == 1);
    CHECK(now[3] == 2);
    for (size_t i = 0; i < 4; ++i) CHECK(lab.got<uint64_t>(i) == i + 1);
}

TEST_CASE("alloca: memory of its own for every lane, given back by stackrestore",
          "[machine][stack]") {
    Lab lab;
    lab.run("cvt.u64.u32 %rd1, %lane;\nadd.u64 %rd1, %rd1, 1;\nshl.b64 %rd1, %rd1, 2;\n"
            "stacksave.u64 %rd9;\nalloca.u64 %rd2, %rd1;\nalloca.u64 %rd3, 64, 32;\n"
            "st.local.u32 [%rd2], %lane;\nst.local.u32 [%rd3], 5;\n"
            "ld.local.u32 %r1, [%rd2];\nst.global.u32 [%mine], %r1;\n"
            "and.b64 %rd4, %rd3, 31;\nst.global.u64 [%mine8+512], %rd4;\n"
            "stackrestore.u64 %rd9;\nalloca.u64 %rd5, %rd1;\nsub.u64 %rd6, %rd5, %rd2;\n"
            "st.global.u64 [%mine8+1024], %rd6;");
    for (uint32_t lane = 0; lane < 32; ++lane) {
        CHECK(lab.got(lane) == lane);
        CHECK(lab.got<uint64_t>(64 + lane) == 0);
        CHECK(lab.got<uint64_t>(128 + lane) == 0);
    }
    for (const SeenAccess& access : lab.seen.accesses) CHECK(access.bad == 0);
}

TEST_CASE("alloca: more than the stack is an overflow, past its end is out of bounds",
          "[machine][stack]") {
    Lab lab;
    CHECK(lab.run("mov.u64 %rd1, 100000000;\nalloca.u64 %rd2, %rd1;\nst.local.u32 [%rd2], 1;")
              .status == LaunchStatus::kStackOverflow);
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].kind == FaultKind::kStackOverflow);
    Lab other;
    other.run("alloca.u64 %rd2, 16;\nst.local.u32 [%rd2+12], 1;\nst.local.u32 [%rd2+4096], 1;");
    REQUIRE(other.seen.accesses.size() == 2);
    CHECK(other.seen.accesses[0].bad == 0);
    CHECK(other.seen.accesses[1].bad == kAllLanes);
}
