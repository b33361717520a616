// SPDX-License-Identifier: MIT
// Block barriers: all threads, counted ones, arrive without waiting, reductions, threads that have
// returned, parts of a warp at different barriers, and deadlocks.
#include <algorithm>

#include "machine_lab.h"

using namespace machine_lab;

namespace {
const Shape kTwoWarps{.block = {64, 1, 1}};
const Shape kFourWarps{.block = {128, 1, 1}};
// Each thread writes its number, passes a barrier, reads the one of the mirrored thread.
std::string mirror(const std::string& barrier) {
    return ".shared .align 4 .b8 s[4096];\nmov.u32 %r1, s;\nmad.lo.u32 %r2, %tid, 4, %r1;\n"
           "st.shared.u32 [%r2], %tid;\n" +
           barrier +
           "\nmov.u32 %r3, %ntid.x;\nsub.u32 %r3, %r3, %tid;\nsub.u32 %r3, %r3, 1;\n"
           "mad.lo.u32 %r4, %r3, 4, %r1;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%mine], %r5;\n";
}
}  // namespace

TEST_CASE("bar.sync: no thread passes before all have arrived", "[machine][barriers]") {
    for (const char* text : {"bar.sync 0;",
                             "barrier.sync 0;",
                             "barrier.sync.aligned 0;",
                             "barrier.cta.sync 3;",
                             "mov.u32 %r9, 5;\nbar.sync %r9;"})
        for (const uint32_t threads : {1u, 31u, 32u, 33u, 128u, 1000u, 1024u}) {
            Lab lab;
            INFO(text << " of " << threads);
            CHECK(lab.run(mirror(text), {.block = {threads, 1, 1}}).status == LaunchStatus::kOk);
            CHECK(lab.words(threads) == each([&](uint32_t i) { return threads - 1 - i; }, threads));
        }
}

TEST_CASE("bar.sync: without it the mirrored value is not there", "[machine][barriers]") {
    Lab lab;
    lab.run(mirror(""), kTwoWarps);
    CHECK(lab.got(0) == 0xa5a5a5a5u);
}

TEST_CASE("bar.sync: the event has the lanes and the place of each arrival",
          "[machine][barriers]") {
    Lab lab;
    lab.run("bar.sync 2;", {.block = {40, 1, 1}});
    REQUIRE(lab.seen.barriers.size() == 1);
    const SeenBarrier& b = lab.seen.barriers[0];
    CHECK(b.id == 2);
    CHECK(b.expected == 0);
    CHECK(b.aligned);
    REQUIRE(b.arrivals.size() == 2);
    CHECK(b.arrivals[0].warp == 0);
    CHECK(b.arrivals[0].mask == kAllLanes);
    CHECK(b.arrivals[1].mask == 0xff);
    CHECK(b.arrivals[0].site == b.arrivals[1].site);
    CHECK_FALSE(b.arrivals[0].arrive_only);
    CHECK(code_site(b.arrivals[0].site).opcode == "bar.sync");
}

TEST_CASE("barrier.sync: the event has the lack of .aligned", "[machine][barriers]") {
    Lab lab;
    lab.run("barrier.sync 0;");
    REQUIRE(lab.seen.barriers.size() == 1);
    CHECK_FALSE(lab.seen.barriers[0].aligned);
}

TEST_CASE("bar.sync: threads that have returned are not waited for", "[machine][barriers]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.ge.u32 %p1, %tid, 50;\n@%p1 ret;\nbar.sync 0;\nst.global.u32 [%mine], 1;",
                kFourWarps);
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words(128) == each([](uint32_t i) { return i < 50 ? 1 : kOldWord; }, 128));
    REQUIRE(lab.seen.barriers.size() == 1);
    CHECK(lab.seen.barriers[0].exited ==
          std::vector<uint32_t>{0, 0xfffc0000u, kAllLanes, kAllLanes});
}

TEST_CASE("bar.sync: threads that return release those that wait", "[machine][barriers]") {
    // The first warp waits already when the second returns.
    Lab lab;
    const LaunchSummary s = lab.run("setp.ge.u32 %p1, %tid, 32;\n@%p1 bra LATE;\nbar.sync 0;\n"
                                    "st.global.u32 [%mine], 1;\nLATE:\nret;",
                                    kTwoWarps);
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(31) == 1);
}

TEST_CASE("bar.sync: parts of one warp may arrive one by one", "[machine][barriers]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.lt.u32 %p1, %lane, 8;\n@%p1 bra A;\nbar.sync 0;\nbra END;\n"
                "A:\nbar.sync 0;\nEND:\nactivemask.b32 %r1;\n"
                "st.global.u32 [%mine], %r1;",
                kTwoWarps);
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words(64) == each([](uint32_t) { return kAllLanes; }, 64));
    REQUIRE(lab.seen.barriers.size() == 1);
    REQUIRE(lab.seen.barriers[0].arrivals.size() == 4);
    uint32_t first_warp = 0;
    for (const Arrival& a : lab.seen.barriers[0].arrivals)
        if (a.warp == 0) first_warp ^= a.mask;
    CHECK(first_warp == kAllLanes);
}

TEST_CASE("bar.sync: in a loop, every round is a barrier of its own", "[machine][barriers]") {
    Lab lab;
    // A tree sum of thread numbers.
    lab.run(".shared .align 4 .b8 s[512];\nmov.u32 %r1, s;\nmad.lo.u32 %r2, %tid, 4, %r1;\n"
            "st.shared.u32 [%r2], %tid;\nmov.u32 %r3, 64;\nLOOP:\nbar.sync 0;\n"
            "setp.ge.u32 %p1, %tid, %r3;\n@%p1 bra SKIP;\nmad.lo.u32 %r4, %r3, 4, %r2;\n"
            "ld.shared.u32 %r5, [%r4];\nld.shared.u32 %r6, [%r2];\nadd.u32 %r5, %r5, %r6;\n"
            "st.shared.u32 [%r2], %r5;\nSKIP:\nshr.u32 %r3, %r3, 1;\nsetp.ne.u32 %p2, %r3, 0;\n"
            "@%p2 bra LOOP;\nbar.sync 0;\nld.shared.u32 %r7, [s];\nst.global.u32 [%mine], %r7;",
            kFourWarps);
    CHECK(lab.words(128) == each([](uint32_t) { return 127 * 64; }, 128));
    CHECK(lab.seen.barriers.size() == 8);
}

TEST_CASE("guarded bar.sync: lanes outside the guard do not arrive", "[machine][barriers]") {
    // Warps 1 and 2 meet at barrier 1; the others pass by.
    Lab lab;
    const LaunchSummary s =
        lab.run("shr.u32 %r1, %tid, 5;\nsub.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 2;\n"
                "@%p1 bar.sync 1, 64;\nst.global.u32 [%mine], 1;",
                kFourWarps);
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.words(128) == each([](uint32_t) { return 1; }, 128));
    REQUIRE(lab.seen.barriers.size() == 1);
    CHECK(lab.seen.barriers[0].expected == 64);
    CHECK(lab.seen.barriers[0].arrivals.size() == 2);
}

TEST_CASE("guarded bar.sync: half a warp arrives, the warp continues together",
          "[machine][barriers]") {
    Lab lab;
    const LaunchSummary s = lab.run("setp.lt.u32 %p1, %lane, 16;\n@%p1 bar.sync 0;\n"
                                    "@!%p1 bar.sync 0;\nactivemask.b32 %r1;\n"
                                    "st.global.u32 [%mine], %r1;");
    // The two halves stand at two instructions: they meet as threads, not as a warp.
    CHECK(s.status == LaunchStatus::kOk);
    REQUIRE(lab.seen.barriers.size() >= 1);
    CHECK(lab.got(0) != kOldWord);
    CHECK(lab.got(31) != kOldWord);
}

TEST_CASE("bar.sync with a count: two groups use two barriers at once", "[machine][barriers]") {
    Lab lab;
    lab.run(".shared .align 4 .b8 s[512];\nshr.u32 %r1, %tid, 6;\nadd.u32 %r2, %r1, 1;\n"
            "mov.u32 %r3, s;\nmad.lo.u32 %r4, %tid, 4, %r3;\nst.shared.u32 [%r4], %tid;\n"
            "bar.sync %r2, 64;\nxor.b32 %r5, %tid, 32;\nmad.lo.u32 %r6, %r5, 4, %r3;\n"
            "ld.shared.u32 %r7, [%r6];\nst.global.u32 [%mine], %r7;",
            kFourWarps);
    CHECK(lab.words(128) == each([](uint32_t i) { return i ^ 32; }, 128));
    CHECK(lab.seen.barriers.size() == 2);
}

TEST_CASE("bar.sync with a count: a short warp counts as a whole one", "[machine][barriers]") {
    Lab lab;
    CHECK(lab.run("bar.sync 1, 64;\nst.global.u32 [%mine], 1;", {.block = {40, 1, 1}}).status ==
          LaunchStatus::kOk);
    CHECK(lab.got(39) == 1);
}

TEST_CASE("bar.sync with a count: lanes that return later do not hold it up",
          "[machine][barriers]") {
    // Half of warp 0 waits at the barrier; the other half returns instead of coming.
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.ge.u32 %p1, %tid, 16;\nsetp.lt.u32 %p2, %tid, 32;\nand.pred %p1, %p1, %p2;\n"
                "@%p1 bra LEAVE;\nbar.sync 1, 64;\nst.global.u32 [%mine], 1;\nLEAVE:\nret;",
                kTwoWarps);
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(0) == 1);
    CHECK(lab.got(16) == kOldWord);
    CHECK(lab.got(63) == 1);
}

TEST_CASE("bar.arrive: counts without waiting", "[machine][barriers]") {
    // Warp 0 produces and continues; warp 1 waits for it.
    Lab lab;
    const LaunchSummary s = lab.run(
        ".shared .align 4 .b8 s[128];\nmov.u32 %r1, s;\nmad.lo.u32 %r2, %lane, 4, %r1;\n"
        "setp.ge.u32 %p1, %tid, 32;\n@%p1 bra CONSUME;\nadd.u32 %r3, %lane, 7;\n"
        "st.shared.u32 [%r2], %r3;\nbar.arrive 1, 64;\nst.global.u32 [%mine], 1;\nbra END;\n"
        "CONSUME:\nbar.sync 1, 64;\nld.shared.u32 %r4, [%r2];\nst.global.u32 [%mine], %r4;\n"
        "END:\n",
        kTwoWarps);
    CHECK(s.status == LaunchStatus::kOk);
    for (uint32_t i = 0; i < 32; ++i) CHECK(lab.got(32 + i) == i + 7);
    REQUIRE(lab.seen.barriers.size() == 1);
    CHECK(lab.seen.barriers[0].arrivals[0].arrive_only);
    CHECK_FALSE(lab.seen.barriers[0].arrivals[1].arrive_only);
}

TEST_CASE("bar.arrive: ping-pong over two barriers", "[machine][barriers]") {
    Lab lab;
    // Three rounds: warp 0 writes a round number, warp 1 adds it up.
    const LaunchSummary s = lab.run(
        ".shared .align 4 .b8 s[4];\nmov.u32 %r9, 0;\nmov.u32 %r1, 0;\n"
        "setp.ge.u32 %p1, %tid, 32;\n@%p1 bra CONSUME;\nPRODUCE:\n"
        "add.u32 %r1, %r1, 1;\nst.shared.u32 [s], %r1;\nbar.arrive 1, 64;\nbar.sync 2, 64;\n"
        "setp.lt.u32 %p2, %r1, 3;\n@%p2 bra PRODUCE;\nbra END;\nCONSUME:\n"
        "bar.sync 1, 64;\nld.shared.u32 %r2, [s];\nadd.u32 %r9, %r9, %r2;\n"
        "bar.arrive 2, 64;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 3;\n"
        "@%p2 bra CONSUME;\nEND:\nst.global.u32 [%mine], %r9;",
        kTwoWarps);
    CHECK(s.status == LaunchStatus::kOk);
    CHECK(lab.got(0) == 0);
    CHECK(lab.got(40) == 6);
}

TEST_CASE("bar.red: count, all and any over the block", "[machine][barriers]") {
    for (const uint32_t yes : {0u, 1u, 40u, 99u, 100u}) {
        Lab lab;
        lab.run(
            "setp.lt.u32 %p1, %tid, " + std::to_string(yes) +
                ";\nbar.red.popc.u32 %r1, 0, %p1;\nbar.red.and.pred %p2, 0, %p1;\n"
                "bar.red.or.pred %p3, 0, %p1;\nbar.red.popc.u32 %r2, 0, !%p1;\n"
                "selp.u32 %r3, 1000, 0, %p2;\nselp.u32 %r4, 2000, 0, %p3;\n"
                "add.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\nmad.lo.u32 %r1, %r2, 10000, %r1;\n"
                "st.global.u32 [%mine], %r1;",
            {.block = {100, 1, 1}});
        CAPTURE(yes);
        const uint32_t want =
            yes + (yes == 100 ? 1000 : 0) + (yes ? 2000 : 0) + (100 - yes) * 10000;
        CHECK(lab.words(100) == each([&](uint32_t) { return want; }, 100));
    }
}

TEST_CASE("bar.red: with a count, over the group only", "[machine][barriers]") {
    Lab lab;
    lab.run("shr.u32 %r1, %tid, 6;\nsetp.lt.u32 %p1, %lane, 3;\n"
            "bar.red.popc.u32 %r2, %r1, 64, %p1;\nsetp.eq.u32 %p2, %r1, 1;\n"
            "bar.red.and.pred %p3, %r1, 64, %p2;\nselp.u32 %r3, 100, 0, %p3;\n"
            "add.u32 %r2, %r2, %r3;\nst.global.u32 [%mine], %r2;",
            kFourWarps);
    CHECK(lab.words(128) == each([](uint32_t i) { return i < 64 ? 6 : 106; }, 128));
}

TEST_CASE("bar.red: in diverged parts of a warp", "[machine][barriers]") {
    Lab lab;
    lab.run("setp.lt.u32 %p1, %lane, 8;\nsetp.lt.u32 %p2, %lane, 12;\n@%p1 bra A;\n"
            "bar.red.popc.u32 %r1, 0, %p2;\nbra END;\nA:\nbar.red.popc.u32 %r1, 0, %p2;\nEND:\n"
            "st.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t) { return 12; }));
}

TEST_CASE("barrier: an id that does not exist is a fault", "[machine][barriers]") {
    Lab lab;
    CHECK(lab.run("mov.u32 %r1, 16;\nbar.sync %r1;").status == LaunchStatus::kTrap);
    REQUIRE(lab.seen.faults.size() == 1);
    CHECK(lab.seen.faults[0].message.find("16") != std::string::npos);
}

TEST_CASE("deadlock: two warps at different barriers, each named with its barrier",
          "[machine][barriers]") {
    Lab lab;
    const LaunchSummary s =
        lab.run("setp.lt.u32 %p1, %tid, 32;\n@%p1 bra A;\nbar.sync 2;\nbra END;\nA:\n"
                "barrier.sync 1;\nEND:\nst.global.u32 [%mine], 1;",
                kTwoWarps);
    CHECK(s.status == LaunchStatus::kDeadlock);
    CHECK(lab.got(0) == kOldWord);
    REQUIRE(lab.seen.stalls.size() == 1);
    const SeenStall& stall = lab.seen.stalls[0];
    CHECK(stall.kind == StallEvent::Kind::kDeadlock);
    REQUIRE(stall.waiters.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
        CHECK(stall.waiters[i].warp == i);
        CHECK(stall.waiters[i].mask == kAllLanes);
        CHECK(stall.waiters[i].reason == WaitReason::kBarrier);
        CHECK(stall.waiters[i].barrier == i + 1);
    }
    CHECK(stall.opcodes == std::vector<std::string>{"barrier.sync", "bar.sync"});
}

TEST_CASE("deadlock: fewer threads arrive than the count requires", "[machine][barriers]") {
    Lab lab;
    const LaunchSummary s = lab.run("setp.ge.u32 %p1, %tid, 32;\n@%p1 ret;\nbar.sync 1, 64;",
                                    {.grid = {3, 1, 1}, .block = {64, 1, 1}});
    CHECK(s.status == LaunchStatus::kDeadlock);
    REQUIRE(lab.seen.stalls.size() == 1);
    CHECK(lab.seen.stalls[0].exited_threads == 32);
    REQUIRE(lab.seen.stalls[0].waiters.size() == 1);
    CHECK(lab.seen.stalls[0].blocks[0] == 0);
}

TEST_CASE("deadlock: the two sides of a barrier count differently", "[machine][barriers]") {
    for (const char* counts : {"64 96", "96 64", "64 64"}) {
        Lab lab;
        INFO(counts);
        const std::string first(counts, 2), second(counts + 3);
        const LaunchSummary s =
            lab.run("setp.lt.u32 %p1, %tid, 32;\n@%p1 bra A;\nbar.sync 1, " + second +
                        ";\nbra END;\nA:\nbar.arrive 1, " + first + ";\nEND:\n",
                    kTwoWarps);
        CHECK((s.status == LaunchStatus::kOk) == (first == second));
    }
}

TEST_CASE("deadlock: the device runs the next launch as if nothing had been",
          "[machine][barriers]") {
    Lab lab;
    CHECK(
        lab.run("setp.ge.u32 %p1, %tid, 32;\n@%p1 bra A;\nbar.sync 1;\nA:\nbar.sync 2;", kTwoWarps)
            .status == LaunchStatus::kDeadlock);
    CHECK(lab.run(mirror("bar.sync 1;"), kTwoWarps).status == LaunchStatus::kOk);
    CHECK(lab.words(64) == each([](uint32_t i) { return 63 - i; }, 64));
}

TEST_CASE("barrier: every block has its own", "[machine][barriers]") {
    Lab lab;
    CHECK(lab.run(mirror("bar.sync 0;"), {.grid = {3, 2, 1}, .block = {64, 1, 1}}).status ==
          LaunchStatus::kOk);
    CHECK(lab.seen.barriers.size() == 6);
}
