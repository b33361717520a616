// SPDX-License-Identifier: MIT
// Generic addresses: which space they are of, lanes in several spaces at once, and addresses that
// belong to another thread or block.
#include <set>

#include "machine_lab.h"

using namespace machine_lab;

TEST_CASE("isspacep: constant and global memory are two spaces", "[machine][access]") {
    Lab lab;
    lab.run("cvta.const.u64 %rd1, c;\ncvta.global.u64 %rd2, g;\n"
            "isspacep.const %p1, %rd1;\nisspacep.global %p2, %rd1;\n"
            "isspacep.const %p3, %rd2;\nisspacep.global %p4, %rd2;\n"
            "selp.u32 %r1, 1, 0, %p1;\nselp.u32 %r2, 2, 0, %p2;\n"
            "selp.u32 %r3, 4, 0, %p3;\nselp.u32 %r4, 8, 0, %p4;\n"
            "or.b32 %r1, %r1, %r2;\nor.b32 %r1, %r1, %r3;\nor.b32 %r1, %r1, %r4;\n"
            "st.global.u32 [%mine], %r1;",
            {},
            ".const .u32 c = 1;\n.global .u32 g;\n");
    CHECK(lab.got(0) == (1 | 8));
}

TEST_CASE("isspacep: a register of 32 bits is a row of its own", "[machine][access]") {
    // In the shared space, the tag would stand in the upper half: only a reader of twice the row
    // could see one, in the neighbour's lanes.
    Lab lab;
    lab.run(".shared .u32 s;\ncvta.shared.u64 %rd1, s;\nmov.b64 {%r1, %r2}, %rd1;\n"
            "isspacep.shared %p1, %r1;\nisspacep.shared %p2, %r2;\nisspacep.global %p3, %r1;\n"
            "selp.u32 %r3, 1, 0, %p1;\nselp.u32 %r4, 2, 0, %p2;\nselp.u32 %r5, 4, 0, %p3;\n"
            "or.b32 %r3, %r3, %r4;\nor.b32 %r3, %r3, %r5;\nst.global.u32 [%mine], %r3;");
    CHECK(lab.words() == each([](uint32_t) { return 4; }));
}

TEST_CASE("generic ld and st: lanes in different spaces", "[machine][access]") {
    // Even lanes in shared, lanes 1, 5, ... in global, lanes 3, 7, ... in local memory.
    Lab lab;
    lab.run(".shared .align 8 .b8 s[256];\n.local .align 8 .b8 l[256];\n"
            "cvta.shared.u64 %rd1, s;\nmov.u64 %rd2, l;\ncvta.local.u64 %rd2, %rd2;\n"
            "and.b32 %r1, %lane, 1;\nsetp.eq.u32 %p1, %r1, 0;\n"
            "and.b32 %r2, %lane, 2;\nsetp.eq.u32 %p2, %r2, 0;\n"
            "add.u64 %rd3, %out, 1024;\nselp.u64 %rd4, %rd3, %rd2, %p2;\n"
            "selp.u64 %rd5, %rd1, %rd4, %p1;\nmad.wide.u32 %rd6, %lane, 4, %rd5;\n"
            "add.u32 %r3, %lane, 100;\nst.u32 [%rd6], %r3;\nmov.u32 %r4, 0;\nld.u32 %r4, [%rd6];\n"
            "st.global.u32 [%mine], %r4;\n"
            "isspacep.shared %p3, %rd6;\nisspacep.local %p4, %rd6;\nisspacep.global %p5, %rd6;\n"
            "selp.u32 %r5, 1, 0, %p3;\nselp.u32 %r6, 2, 0, %p4;\nselp.u32 %r7, 4, 0, %p5;\n"
            "add.u32 %r5, %r5, %r6;\nadd.u32 %r5, %r5, %r7;\nst.global.u32 [%mine+128], %r5;");
    CHECK(lab.words() == each([](uint32_t i) { return i + 100; }));
    for (uint32_t i = 0; i < 32; ++i) {
        CHECK(lab.got(32 + i) == (i % 2 == 0 ? 1u : i % 4 == 3 ? 2u : 4u));
        CHECK(lab.got(256 + i) == (i % 4 == 1 ? i + 100 : kOldWord));
    }
    uint32_t shared = 0, local = 0, global = 0;
    for (const SeenAccess& a : lab.seen.accesses) {
        if (a.opcode != "st.u32") continue;
        (a.space == ptx::Space::kShared  ? shared
         : a.space == ptx::Space::kLocal ? local
                                         : global) |= a.mask;
        CHECK(a.bad == 0);
    }
    CHECK(shared == 0x55555555);
    CHECK(local == 0x88888888);
    CHECK(global == 0x22222222);
}

TEST_CASE("generic ld: full warps in one space", "[machine][access]") {
    for (const char* space : {"shared", "local"}) {
        Lab lab;
        lab.run(std::string(".") + space + " .align 8 .b8 s[256];\nmov.u64 %rd1, s;\ncvta." +
                space + ".u64 %rd1, %rd1;\nmad.wide.u32 %rd2, %lane, 4, %rd1;\n" +
                "mul.lo.u32 %r1, %lane, 3;\nst.u32 [%rd2], %r1;\nld.u32 %r2, [%rd2];\n" +
                "cvta.to." + space + ".u64 %rd3, %rd2;\nld." + space + ".u32 %r3, [%rd3];\n" +
                "add.u32 %r2, %r2, %r3;\nst.global.u32 [%mine], %r2;");
        INFO(space);
        CHECK(lab.words() == each([](uint32_t i) { return 6 * i; }));
    }
}

// Each lane has an address of its own local memory in %rd1, and lane 5's in %rd2.
const std::string kLentAddress =
    ".shared .align 8 .b64 lent;\n.local .align 8 .b8 l[256];\nmov.u64 %rd1, l;\n"
    "cvta.local.u64 %rd1, %rd1;\nst.u32 [%rd1], %lane;\nsetp.eq.u32 %p1, %lane, 5;\n"
    "@%p1 st.shared.u64 [lent], %rd1;\nbar.warp.sync -1;\nld.shared.u64 %rd2, [lent];\n";

TEST_CASE("generic ld: an address of another lane's local memory is a fault", "[machine][access]") {
    Lab lab;
    lab.run(kLentAddress + "ld.u32 %r1, [%rd2];\nst.global.u32 [%mine], %r1;");
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].kind == machine::FaultKind::kForeignAddress);
    CHECK(lab.seen.faults[0].mask == ~(1u << 5));
    CHECK(lab.seen.faults[0].message.find("thread (5,0,0)") != std::string::npos);
    // As on a card, everybody gets what is at that place in memory of his own.
    CHECK(lab.words() == each([](uint32_t i) { return i; }));
}

TEST_CASE("generic st: an address of another lane's local memory is a fault", "[machine][access]") {
    Lab lab;
    lab.run(kLentAddress + "st.u32 [%rd2], 7;\nld.u32 %r1, [%rd1];\nst.global.u32 [%mine], %r1;");
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].message.find("writes") != std::string::npos);
    CHECK(lab.words() == each([](uint32_t) { return 7; }));
}

TEST_CASE("generic ld: a local address off by 2^34 bytes belongs to no other thread",
          "[machine][access]") {
    // As with local[k - 1u] where k is 0.
    Lab lab;
    lab.run(kLentAddress + "add.u64 %rd1, %rd1, 0x3fffffffc;\nld.u32 %r1, [%rd1];");
    CHECK(lab.seen.faults.empty());
}

// Block 0 leaves the address of its shared variable in global memory, and all blocks use it.
TEST_CASE("generic ld: an address of another block's shared memory is a fault",
          "[machine][access]") {
    Lab lab;
    lab.run(
        ".shared .align 4 .b32 s;\nmov.u64 %rd1, s;\ncvta.shared.u64 %rd1, %rd1;\n"
        "mov.u32 %r1, %ctaid.x;\nadd.u32 %r1, %r1, 3;\nst.shared.u32 [s], %r1;\n"
        "setp.eq.u32 %p1, %r1, 3;\n@%p1 st.global.u64 [%in], %rd1;\nld.global.u64 %rd2, [%in];\n"
        "ld.u32 %r2, [%rd2];\nld.u32 %r3, [%rd1];\nst.global.u32 [%mine], %r2;",
        {{2, 1, 1}, {1, 1, 1}});
    // As on a card, it is the same place in the block's own memory.
    CHECK(lab.words(2) == each([](uint32_t block) { return block + 3; }, 2));
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].kind == machine::FaultKind::kForeignAddress);
    CHECK(lab.seen.faults[0].message.find("shared variable of another block") != std::string::npos);
}

TEST_CASE("generic ld: the address of a block's own shared memory is good in all of many blocks",
          "[machine][access]") {
    Lab lab;
    lab.run(".shared .align 4 .b32 s;\nmov.u64 %rd1, s;\ncvta.shared.u64 %rd2, %rd1;\n"
            "mov.u32 %r1, %ctaid.x;\nst.u32 [%rd2], %r1;\nld.shared.u32 %r2, [s];\n"
            "st.global.u32 [%mine], %r2;",
            {{1000, 1, 1}, {1, 1, 1}});
    CHECK(lab.seen.faults.empty());
    CHECK(lab.words(1000) == each([](uint32_t block) { return block; }, 1000));
}

TEST_CASE("cvta: a number as an address of local memory is each lane's own", "[machine][access]") {
    Lab lab;
    lab.run(".local .align 4 .b8 l[16];\nst.local.u32 [l], %lane;\ncvta.local.u64 %rd1, 0;\n"
            "st.global.u64 [%mine8], %rd1;");
    CHECK(lab.seen.faults.empty());
    std::set<uint64_t> addresses;
    for (size_t i = 0; i < 32; ++i) addresses.insert(lab.got<uint64_t>(i));
    CHECK(addresses.size() == 32);
}

TEST_CASE("generic ld: an address of no space is reported as such", "[machine][access]") {
    Lab lab;
    const LaunchSummary summary = lab.run(
        "mov.u64 %rd1, 0x7700000000001000;\nld.u32 %r1, [%rd1];\nst.global.u32 [%mine], %r1;");
    CHECK(summary.status == LaunchStatus::kIllegalAddress);
    CHECK(lab.seen.accesses[0].space == ptx::Space::kNone);
    CHECK(lab.got(3) == 0xffffffff);
}
