// SPDX-License-Identifier: MIT
// What the lanes of a warp do together: shfl, vote, match, redux, elect, __syncwarp, whoever takes
// part and wherever in the code the lanes stand.
#include <random>

#include "machine_lab.h"

using namespace machine_lab;

namespace {

// PTX ISA "shfl.sync", its pseudocode; -1: out of range.
int source(const std::string& mode, int lane, uint32_t b, uint32_t c) {
    const int bval = int(b & 31), cval = int(c & 31), mask = int(c >> 8 & 31);
    const int max = (lane & mask) | (cval & ~mask), min = lane & mask;
    int j;
    bool p;
    if (mode == "up") {
        j = lane - bval;
        p = j >= max;
    } else if (mode == "down") {
        j = lane + bval;
        p = j <= max;
    } else if (mode == "bfly") {
        j = lane ^ bval;
        p = j <= max;
    } else {
        j = min | (bval & ~mask);
        p = j <= max;
    }
    return p ? j : -1;
}

}  // namespace

TEST_CASE("shfl: every mode and width as the ISA's pseudocode says", "[machine][warp]") {
    for (const char* mode : {"up", "down", "bfly", "idx"})
        for (const uint32_t width : {32u, 16u, 8u, 4u, 2u, 1u})
            for (const uint32_t b : {0u, 1u, 2u, 3u, 5u, 8u, 15u, 16u, 31u, 33u}) {
                const uint32_t c = (32 - width) << 8 | (std::string(mode) == "up" ? 0 : 31);
                Lab lab(kSyncEvents);
                lab.run("mul.lo.u32 %r1, %lane, 3;\nadd.u32 %r1, %r1, 1000;\nshfl.sync." +
                        std::string(mode) + ".b32 %r2|%p1, %r1, " + std::to_string(b) + ", " +
                        std::to_string(c) + ", 0xffffffff;\nst.global.u32 [%mine], %r2;\n" +
                        "selp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%mine+128], %r3;");
                INFO(mode << " by " << b << " in " << width);
                for (int lane = 0; lane < 32; ++lane) {
                    const int from = source(mode, lane, b, c);
                    CAPTURE(lane, from);
                    REQUIRE(lab.got(uint32_t(lane)) ==
                            uint32_t(1000 + 3 * (from < 0 ? lane : from)));
                    REQUIRE(lab.got(32 + uint32_t(lane)) == (from >= 0));
                }
                REQUIRE(lab.seen.syncs.size() == 1);
                REQUIRE(lab.seen.syncs[0].undefined_sources == 0);
            }
}

TEST_CASE("shfl: a bound below the last lane", "[machine][warp]") {
    Lab lab;
    lab.run("shfl.sync.down.b32 %r1|%p1, %lane, 4, 20, -1;\nselp.u32 %r1, %r1, 99, %p1;\n"
            "st.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t i) { return i + 4 <= 20 ? i + 4 : 99; }));
}

TEST_CASE("shfl.idx: every lane its own source", "[machine][warp]") {
    Lab lab;
    lab.run("mul.lo.u32 %r1, %lane, 7;\nadd.u32 %r2, %lane, 500;\n"
            "shfl.sync.idx.b32 %r3, %r2, %r1, 31, -1;\nst.global.u32 [%mine], %r3;");
    CHECK(lab.words() == each([](uint32_t i) { return 7 * i % 32 + 500; }));
}

TEST_CASE("shfl: the destination may be the source", "[machine][warp]") {
    Lab lab;
    lab.run(
        "mov.u32 %r1, %lane;\nshfl.sync.up.b32 %r1, %r1, 1, 0, -1;\nst.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t i) { return i ? i - 1 : 0; }));
}

TEST_CASE("shfl: from a lane that takes no part is undefined, and reported", "[machine][warp]") {
    Lab lab;
    lab.run(
        "setp.ge.u32 %p1, %lane, 10;\n@%p1 exit;\nshfl.sync.down.b32 %r1, %lane, 4, 31, 0x3ff;\n"
        "st.global.u32 [%mine], %r1;");
    CHECK(lab.words(10) == each([](uint32_t i) { return i + 4 < 10 ? i + 4 : 0; }, 10));
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].undefined_sources == 0x3c0);
    CHECK(lab.seen.syncs[0].kind == WarpSyncKind::kShuffle);
}

TEST_CASE("shfl: guarded, the others keep their value", "[machine][warp]") {
    Lab lab;
    lab.run("setp.lt.u32 %p1, %lane, 16;\nmov.u32 %r1, 77;\n"
            "@%p1 shfl.sync.bfly.b32 %r1, %lane, 1, 31, 0xffff;\nactivemask.b32 %r2;\n"
            "st.global.u32 [%mine], %r1;\nst.global.u32 [%mine+128], %r2;");
    CHECK(lab.words() == each([](uint32_t i) { return i < 16 ? i ^ 1 : 77; }));
    CHECK(lab.got(32) == kAllLanes);
}

TEST_CASE("vote: all, any, uni and ballot", "[machine][warp]") {
    for (const uint32_t yes : {0u, 1u, 0x00ff00f0u, 0x7fffffffu, kAllLanes}) {
        Lab lab;
        lab.give<uint32_t>(0, yes);
        lab.run("ld.global.u32 %r1, [%in];\nshr.u32 %r1, %r1, %lane;\nand.b32 %r1, %r1, 1;\n"
                "setp.eq.u32 %p1, %r1, 1;\nvote.sync.all.pred %p2, %p1, -1;\n"
                "vote.sync.any.pred %p3, %p1, -1;\nvote.sync.uni.pred %p4, %p1, -1;\n"
                "vote.sync.ballot.b32 %r2, %p1, -1;\nvote.sync.ballot.b32 %r3, !%p1, -1;\n"
                "selp.u32 %r4, 1, 0, %p2;\nselp.u32 %r5, 2, 0, %p3;\nselp.u32 %r6, 4, 0, %p4;\n"
                "add.u32 %r4, %r4, %r5;\nadd.u32 %r4, %r4, %r6;\nst.global.u32 [%mine], %r4;\n"
                "st.global.u32 [%mine+128], %r2;\nst.global.u32 [%mine+256], %r3;");
        CAPTURE(yes);
        const uint32_t want = (yes == kAllLanes) + 2 * (yes != 0) + 4 * (yes == 0 || ~yes == 0);
        for (const uint32_t lane : {0u, 13u, 31u}) {
            CHECK(lab.got(lane) == want);
            CHECK(lab.got(32 + lane) == yes);
            CHECK(lab.got(64 + lane) == ~yes);
        }
    }
}

TEST_CASE("vote: only over the lanes that are named", "[machine][warp]") {
    Lab lab;
    lab.run("setp.ge.u32 %p1, %lane, 12;\n@%p1 bra END;\nsetp.ne.u32 %p2, %lane, 20;\n"
            "vote.sync.all.pred %p3, %p2, 0xfff;\nvote.sync.ballot.b32 %r1, %p2, 0xfff;\n"
            "selp.u32 %r2, 0x10000, 0, %p3;\nor.b32 %r1, %r1, %r2;\nst.global.u32 [%mine], %r1;\n"
            "END:\n");
    CHECK(lab.words() == each([](uint32_t i) { return i < 12 ? 0x10fff : kOldWord; }));
}

TEST_CASE("vote: a lane that its mask does not name leaves no bit in a ballot", "[machine][warp]") {
    Lab lab;
    lab.run("setp.ge.u32 %p1, %lane, 3;\n@%p1 bra END;\nsetp.eq.u32 %p2, 0, 0;\n"
            "vote.sync.ballot.b32 %r1, %p2, 5;\nst.global.u32 [%mine], %r1;\nEND:\n");
    CHECK(lab.got(0) == 5);
    CHECK(lab.got(2) == 5);
    CHECK((lab.got(1) & ~5u) == 0);
}

TEST_CASE("match.any: groups of equal values", "[machine][warp]") {
    for (const bool wide : {false, true}) {
        Lab lab;
        lab.run(std::string("mul.lo.u32 %r1, %lane, %lane;\nrem.u32 %r1, %r1, 5;\n") +
                // Equal in the low word, different above.
                (wide ? "and.b32 %r2, %lane, 1;\nmov.b64 %rd1, {%r1, %r2};\n"
                        "match.any.sync.b64 %r3, %rd1, -1;\n"
                      : "match.any.sync.b32 %r3, %r1, -1;\n") +
                "st.global.u32 [%mine], %r3;");
        CHECK(lab.words() == each([&](uint32_t i) {
                  uint32_t same = 0;
                  for (uint32_t k = 0; k < 32; ++k)
                      if (k * k % 5 == i * i % 5 && (!wide || k % 2 == i % 2)) same |= 1u << k;
                  return same;
              }));
    }
}

TEST_CASE("match.all: the mask and true, or nothing and false", "[machine][warp]") {
    for (const bool equal : {false, true}) {
        Lab lab;
        lab.run(std::string("setp.lt.u32 %p3, %lane, 24;\n@!%p3 exit;\n") +
                (equal ? "mov.u32 %r1, 7;\n" : "shr.u32 %r1, %lane, 4;\n") +
                "match.all.sync.b32 %r2|%p1, %r1, 0xffffff;\nselp.u32 %r3, 1, 0, %p1;\n"
                "st.global.u32 [%mine], %r2;\nst.global.u32 [%mine+128], %r3;");
        CHECK(lab.got(5) == (equal ? 0xffffffu : 0u));
        CHECK(lab.got(32 + 23) == equal);
    }
}

TEST_CASE("redux: every operation, signed and unsigned, on part of the warp", "[machine][warp]") {
    std::mt19937 random(5);
    uint32_t v[32];
    for (uint32_t& x : v) x = uint32_t(random());
    for (const uint32_t lanes : {32u, 9u}) {
        uint32_t add = 0, all = ~0u, any = 0, odd = 0, least = ~0u, most = 0;
        int32_t low = INT32_MAX, high = INT32_MIN;
        for (uint32_t i = 0; i < lanes; ++i) {
            add += v[i];
            all &= v[i];
            any |= v[i];
            odd ^= v[i];
            least = std::min(least, v[i]);
            most = std::max(most, v[i]);
            low = std::min(low, int32_t(v[i]));
            high = std::max(high, int32_t(v[i]));
        }
        const std::pair<const char*, uint32_t> table[] = {{"add.u32", add},
                                                          {"add.s32", add},
                                                          {"and.b32", all},
                                                          {"or.b32", any},
                                                          {"xor.b32", odd},
                                                          {"min.u32", least},
                                                          {"max.u32", most},
                                                          {"min.s32", uint32_t(low)},
                                                          {"max.s32", uint32_t(high)}};
        for (const auto& [op, want] : table) {
            Lab lab;
            for (uint32_t i = 0; i < 32; ++i) lab.give(i, v[i]);
            lab.run("setp.ge.u32 %p1, %lane, " + std::to_string(lanes) + ";\n@%p1 exit;\n" +
                    "mad.wide.u32 %rd1, %lane, 4, %in;\nld.global.u32 %r1, [%rd1];\nredux.sync." +
                    op + " %r2, %r1, " + (lanes == 32 ? "-1" : "0x1ff") +
                    ";\nst.global.u32 [%mine], %r2;");
            CAPTURE(op, lanes);
            CHECK(lab.words(lanes) == std::vector<uint32_t>(lanes, want));
        }
    }
}

TEST_CASE("elect: one leader, known to all", "[machine][warp]") {
    Lab lab;
    lab.run("setp.lt.u32 %p2, %lane, 3;\n@%p2 exit;\nelect.sync %r1|%p1, 0xfffffff8;\n"
            "selp.u32 %r2, 100, 0, %p1;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t i) { return i < 3 ? kOldWord : i == 3 ? 103 : 3; }));
}

TEST_CASE("bar.warp.sync: diverged lanes meet and go on together", "[machine][warp]") {
    Lab lab;
    lab.run("setp.lt.u32 %p1, %lane, 16;\n@%p1 bra A;\nst.global.u32 [%in], %lane;\n"
            "bar.warp.sync 0xffffffff;\nbra END;\nA:\nbar.warp.sync 0xffffffff;\n"
            "ld.global.u32 %r1, [%in];\nEND:\nactivemask.b32 %r2;\nst.global.u32 [%mine], %r1;\n"
            "st.global.u32 [%mine+128], %r2;");
    CHECK(lab.got(0) == 31);
    CHECK(lab.got(15) == 31);
    CHECK(lab.got(32) == kAllLanes);
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].arrived == kAllLanes);
    CHECK(lab.seen.syncs[0].missing_waiting == 0);
    CHECK(lab.seen.syncs[0].kind == WarpSyncKind::kBarrier);
}

TEST_CASE("bar.warp.sync: a partial mask binds only its lanes", "[machine][warp]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.lt.u32 %p1, %lane, 8;\n@!%p1 bra END;\nbar.warp.sync 0xff;\n"
                "st.global.u32 [%mine], 1;\nEND:\n");
    CHECK(s.status == LaunchStatus::kOk);
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].named == 0xff);
    CHECK(lab.seen.syncs[0].arrived == 0xff);
    CHECK(lab.seen.syncs[0].missing_waiting == 0);
    CHECK(lab.seen.syncs[0].strangers == 0);
}

TEST_CASE("bar.warp.sync: a named lane that waits elsewhere is reported, the others continue",
          "[machine][warp]") {
    Lab lab;
    const LaunchSummary s = lab.run("setp.lt.u32 %p1, %lane, 30;\n@!%p1 bra END;\n"
                                    "bar.warp.sync 0xffffffff;\nst.global.u32 [%mine], 1;\nEND:\n"
                                    "bar.sync 0;");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(29) == 1);
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].missing_waiting == 0xc0000000u);
    CHECK(lab.seen.syncs[0].arrived == 0x3fffffffu);
}

TEST_CASE("bar.warp.sync: a named lane that has returned is reported", "[machine][warp]") {
    Lab lab;
    lab.run("setp.ge.u32 %p1, %lane, 30;\n@%p1 ret;\nbar.warp.sync 0xffffffff;");
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].missing_exited == 0xc0000000u);
    CHECK(lab.seen.syncs[0].missing_waiting == 0);
}

TEST_CASE("bar.warp.sync: a lane outside its own mask is a stranger", "[machine][warp]") {
    Lab lab;
    lab.run("bar.warp.sync 0x7fffffff;");
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].strangers == 0x80000000u);
}

TEST_CASE("bar.warp.sync: lanes that return release those that wait", "[machine][warp]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.ge.u32 %p1, %lane, 16;\n@%p1 bra LEAVE;\nbar.warp.sync 0xffffffff;\n"
                "st.global.u32 [%mine], 1;\nLEAVE:\nret;");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(15) == 1);
    CHECK(lab.seen.syncs.size() == 1);
}

TEST_CASE("tiles: one instruction, every tile its own mask", "[machine][warp]") {
    for (const uint32_t width : {2u, 4u, 8u, 16u}) {
        Lab lab;
        lab.run(
            "div.u32 %r1, %lane, " + std::to_string(width) + ";\nmul.lo.u32 %r2, %r1, " +
            std::to_string(width) + ";\nmov.u32 %r3, " + std::to_string((1u << width) - 1) +
            ";\nshl.b32 %r3, %r3, %r2;\nmul.lo.u32 %r4, %lane, 10;\n" +
            "redux.sync.add.u32 %r5, %r4, %r3;\nshfl.sync.idx.b32 %r6, %r4, 1, " +
            std::to_string((32 - width) << 8 | 31) + ", %r3;\nadd.u32 %r5, %r5, %r6;\n" +
            "st.global.u32 [%mine], %r5;\nactivemask.b32 %r7;\nst.global.u32 [%mine+128], %r7;");
        CAPTURE(width);
        CHECK(lab.words() == each([&](uint32_t i) {
                  const uint32_t first = i / width * width;
                  return 10 * (width * first + width * (width - 1) / 2) + 10 * (first + 1);
              }));
        CHECK(lab.got(32) == kAllLanes);
        CHECK(lab.seen.syncs.size() == 2 * 32 / width);
    }
}

TEST_CASE("tiles: in diverged code, each tile meets by itself", "[machine][warp]") {
    // Lanes of one tile of 8 stand in both branches; tiles wait only for their own lanes.
    Lab lab;
    const LaunchSummary s = lab.run(
        "and.b32 %r1, %lane, 24;\nmov.u32 %r3, 255;\nshl.b32 %r3, %r3, %r1;\n"
        "setp.lt.u32 %p1, %lane, 12;\n@%p1 bra A;\nredux.sync.add.u32 %r2, %lane, %r3;\nbra END;\n"
        "A:\nredux.sync.add.u32 %r2, %lane, %r3;\nEND:\nst.global.u32 [%mine], %r2;\n"
        "activemask.b32 %r7;\nst.global.u32 [%mine+128], %r7;");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) { return 8 * (i & 24) + 28; }));
    for (uint32_t i = 0; i < 32; ++i) CHECK(lab.got(32 + i) == kAllLanes);
    for (const SeenSync& e : lab.seen.syncs) CHECK(e.missing_waiting == 0);
}

TEST_CASE("shfl: diverged lanes that meet at different instructions exchange values",
          "[machine][warp]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.lt.u32 %p1, %lane, 16;\n@%p1 bra A;\nadd.u32 %r1, %lane, 100;\n"
                "shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\nbra END;\nA:\nadd.u32 %r3, %lane, 200;\n"
                "shfl.sync.bfly.b32 %r2, %r3, 16, 31, -1;\nEND:\nst.global.u32 [%mine], %r2;");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) { return i < 16 ? i + 116 : i - 16 + 200; }));
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].arrived == kAllLanes);
}

TEST_CASE("shfl: in functions called from different places", "[machine][warp]") {
    Lab lab;
    const LaunchSummary s = lab.run(
        "{\n.param .b32 a0;\n.param .b32 r0;\nst.param.b32 [a0], %lane;\nsetp.lt.u32 %p1, %lane, "
        "16;\n"
        "@%p1 bra A;\ncall.uni (r0), f, (a0);\nbra END;\nA:\ncall.uni (r0), f, (a0);\nEND:\n"
        "ld.param.b32 %r1, [r0];\n}\nst.global.u32 [%mine], %r1;",
        {},
        ".func (.param .b32 r) f(.param .b32 p)\n{\n.reg .b32 %a;\nld.param.u32 %a, [p];\n"
        "shfl.sync.bfly.b32 %a, %a, 31, 31, -1;\nst.param.b32 [r], %a;\nret;\n}\n");
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) { return 31 - i; }));
}

TEST_CASE("shfl: in a loop that lanes leave one by one", "[machine][warp]") {
    // Each round the lanes still in the loop name themselves.
    Lab lab;
    lab.run("and.b32 %r1, %lane, 3;\nmov.u32 %r9, 0;\nLOOP:\nactivemask.b32 %r2;\n"
            "redux.sync.add.u32 %r3, 1, %r2;\nadd.u32 %r9, %r9, %r3;\nsetp.eq.u32 %p1, %r1, 0;\n"
            "sub.u32 %r1, %r1, 1;\n@!%p1 bra LOOP;\nst.global.u32 [%mine], %r9;");
    CHECK(lab.words() == each([](uint32_t i) {
              const uint32_t sums[] = {32, 32 + 24, 32 + 24 + 16, 32 + 24 + 16 + 8};
              return sums[i % 4];
          }));
}

TEST_CASE("shfl and vote without .sync: the lanes that are there take part", "[machine][warp]") {
    // Before sm_70 (PTX ISA "shfl (deprecated)"): no mask is written. Lanes 8 to 31 jump away.
    const std::string text =
        ".version 6.5\n.target sm_30\n.address_size 64\n"
        ".visible .entry k(.param .u64 p_out, .param .u64 p_in) {\n"
        ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
        "ld.param.u64 %rd1, [p_out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
        "add.u64 %rd1, %rd1, %rd2; setp.ge.u32 %p1, %r1, 8; @%p1 bra DONE;\n"
        "shfl.down.b32 %r2|%p2, %r1, 1, 31; shfl.idx.b32 %r3, %r1, 5, 31;\n"
        "setp.lt.u32 %p3, %r1, 3; vote.ballot.b32 %r4, %p3; vote.any.pred %p3, !%p3;\n"
        "selp.u32 %r5, 1, 0, %p3; @%p2 mad.lo.u32 %r3, %r2, 100, %r3;\n"
        "st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+128], %r4; st.global.u32 [%rd1+256], %r5;\n"
        "DONE: ret; }\n";
    Lab lab;
    lab.modules.push_back(lab.machine->load(text, "old", 0));
    lab.launch(*lab.modules.back(), "k");
    for (uint32_t i = 0; i < 7; ++i) CHECK(lab.got(i) == (i + 1) * 100 + 5);
    for (uint32_t i = 0; i < 8; ++i) {
        CHECK(lab.got(32 + i) == 7);
        CHECK(lab.got(64 + i) == 1);
    }
    CHECK(lab.got(8) == kOldWord);
}
