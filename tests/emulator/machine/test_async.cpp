// SPDX-License-Identifier: MIT
// cp.async: when its bytes arrive; mbarrier: phases, tokens, parity, transactions.
#include <algorithm>

#include "machine_lab.h"

using namespace machine_lab;

namespace {

const std::string kTile = ".shared .align 16 .b8 tile[1024];\n.shared .align 8 .b64 bar;\n";
// %r1: this lane's 16 bytes of `tile`; %rd1: its 16 bytes of the input.
const std::string kStart = "mov.u32 %r1, tile;\nmad.lo.u32 %r1, %lane, 16, %r1;\n"
                           "mad.wide.u32 %rd1, %lane, 16, %in;\nmov.u32 %r2, bar;\n";

struct Copies final : Observer {
    std::vector<std::pair<bool, uint32_t>> seen;  // completed?, lanes
    void on_async_copy(const AsyncCopyEvent& event) override {
        seen.push_back({event.kind == AsyncCopyEvent::Kind::kCompleted, event.store->mask});
    }
};

void fill(Lab& lab) {
    for (uint32_t i = 0; i < 256; ++i) lab.give(i, 0x01010101u * (i + 1));
}

}  // namespace

TEST_CASE("cp.async: the bytes arrive at the wait, not before", "[machine][async]") {
    for (const uint32_t bytes : {4u, 8u, 16u}) {
        Lab lab;
        Copies copies;
        lab.observers.add(&copies, kSharedAccess);
        fill(lab);
        const std::string size = std::to_string(bytes);
        lab.run(kStart + "st.shared.u32 [%r1], 9;\ncp.async.ca.shared.global [%r1], [%rd1], " +
                    size +
                    ";\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%mine], %r3;\n"
                    "cp.async.wait_all;\nld.shared.u32 %r4, [%r1+" +
                    std::to_string(bytes - 4) + "];\nst.global.u32 [%mine+128], %r4;",
                {},
                kTile);
        for (uint32_t lane = 0; lane < 32; ++lane) {
            CAPTURE(bytes, lane);
            CHECK(lab.got(lane) == 9);
            CHECK(lab.got(32 + lane) == 0x01010101u * (lane * 4 + bytes / 4));
        }
        REQUIRE(copies.seen.size() == 2);
        CHECK(copies.seen[0] == std::pair(false, kAllLanes));
        CHECK(copies.seen[1] == std::pair(true, kAllLanes));
        REQUIRE(lab.seen.accesses.size() >= 3);
        CHECK(lab.seen.accesses[1].kind == AccessKind::kLoad);
        CHECK(lab.seen.accesses[1].space == ptx::Space::kGlobal);
        CHECK(lab.seen.accesses[1].bytes == bytes);
        CHECK(lab.seen.accesses[2].kind == AccessKind::kStore);
        CHECK(lab.seen.accesses[2].space == ptx::Space::kShared);
    }
}

TEST_CASE("cp.async: groups complete in order, the newest may stay open", "[machine][async]") {
    Lab lab;
    fill(lab);
    std::string body = kStart;
    for (const int k : {0, 1, 2}) body += "st.shared.u32 [%r1+" + std::to_string(4 * k) + "], 0;\n";
    for (const int k : {0, 1, 2})
        body += "cp.async.ca.shared.global [%r1+" + std::to_string(4 * k) + "], [%rd1+" +
                std::to_string(4 * k) + "], 4;\ncp.async.commit_group;\n";
    const auto look = [&](int at) {
        for (const int k : {0, 1, 2})
            body += "ld.shared.u32 %r5, [%r1+" + std::to_string(4 * k) +
                    "];\nst.global.u32 [%mine+" + std::to_string(128 * (3 * at + k)) + "], %r5;\n";
    };
    body += "cp.async.wait_group 2;\n";
    look(0);
    body += "cp.async.wait_group 1;\n";
    look(1);
    body += "cp.async.wait_group 0;\n";
    look(2);
    lab.run(body, {}, kTile);
    for (uint32_t at = 0; at < 3; ++at)
        for (uint32_t k = 0; k < 3; ++k) {
            CAPTURE(at, k);
            CHECK(lab.got(32 * (3 * at + k) + 5) == (k <= at ? 0x01010101u * (5 * 4 + k + 1) : 0));
        }
}

TEST_CASE("cp.async: what was not committed is no group's, and lanes have groups of their own",
          "[machine][async]") {
    Lab lab;
    fill(lab);
    lab.run(kStart + "st.shared.u32 [%r1], 0;\nsetp.lt.u32 %p1, %lane, 8;\n"
                     "cp.async.ca.shared.global [%r1], [%rd1], 4;\n"
                     "@%p1 cp.async.commit_group;\ncp.async.wait_group 0;\n"
                     "ld.shared.u32 %r3, [%r1];\nst.global.u32 [%mine], %r3;\ncp.async.wait_all;\n"
                     "ld.shared.u32 %r3, [%r1];\nst.global.u32 [%mine+128], %r3;",
            {},
            kTile);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t there = 0x01010101u * (lane * 4 + 1);
        CHECK(lab.got(lane) == (lane < 8 ? there : 0));
        CHECK(lab.got(32 + lane) == there);
    }
}

TEST_CASE("cp.async: fewer source bytes are filled up with zero, and not read",
          "[machine][async]") {
    Lab lab;
    fill(lab);
    // Lane l reads l % 17 of its bytes; lanes 30 and 31 have nowhere to read from.
    lab.run(kStart + "rem.u32 %r3, %lane, 17;\nsetp.ge.u32 %p1, %lane, 30;\n"
                     "@%p1 mov.u64 %rd1, 0;\n@%p1 mov.u32 %r3, 0;\n"
                     "cp.async.cg.shared.global [%r1], [%rd1], 16, %r3;\ncp.async.wait_all;\n"
                     "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];\n"
                     "mad.wide.u32 %rd2, %lane, 16, %out;\n"
                     "st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};",
            {},
            kTile);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t bytes = lane >= 30 ? 0 : lane % 17;
        for (uint32_t k = 0; k < 16; ++k) {
            CAPTURE(lane, k);
            CHECK(lab.got<uint8_t>(lane * 16 + k) ==
                  (k < bytes ? uint8_t(lane * 4 + k / 4 + 1) : 0));
        }
    }
    for (const SeenAccess& access : lab.seen.accesses) CHECK(access.bad == 0);
    Lab ignoring;
    fill(ignoring);
    ignoring.run(kStart + "setp.ge.u32 %p1, %lane, 16;\n"
                          "cp.async.ca.shared.global [%r1], [%rd1], 4, %p1;\ncp.async.wait_all;\n"
                          "ld.shared.u32 %r4, [%r1];\nst.global.u32 [%mine], %r4;",
                 {},
                 kTile);
    CHECK(ignoring.got(3) == 0x01010101u * 13);
    CHECK(ignoring.got(16) == 0);
}

TEST_CASE("cp.async: an overrun is reported on both sides and changes no other memory",
          "[machine][async]") {
    Lab lab;
    fill(lab);
    lab.run(kStart + "mad.lo.u32 %r1, %lane, 64, %r1;\nmov.u64 %rd1, 4096;\n"
                     "cp.async.ca.shared.global [%r1], [%rd1], 4;\ncp.async.wait_all;",
            {},
            kTile);
    REQUIRE(lab.seen.accesses.size() == 2);
    CHECK(lab.seen.accesses[0].bad == kAllLanes);
    CHECK(lab.seen.accesses[1].bad == 0xffffe000);  // from lane 13 on: 13 * 80 > 1020
}

TEST_CASE("mbarrier: a phase ends when everybody has arrived", "[machine][mbarrier]") {
    Lab lab;
    lab.run("mov.u32 %r2, bar;\nsetp.ne.u32 %p1, %tid, 0;\n"
            "@!%p1 mbarrier.init.shared.b64 [%r2], 64;\nbar.sync 0;\n"
            "mbarrier.arrive.shared.b64 %rd1, [%r2];\n"
            "mbarrier.pending_count.b64 %r3, %rd1;\nst.global.u32 [%mine], %r3;\n"
            "WAIT:\nmbarrier.try_wait.shared.b64 %p2, [%r2], %rd1;\n@!%p2 bra WAIT;\n"
            "mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;\n"
            "mbarrier.test_wait.parity.shared.b64 %p4, [%r2], 1;\n"
            "selp.u32 %r4, 1, 0, %p3;\nselp.u32 %r5, 1, 0, %p4;\n"
            "st.global.u32 [%mine+256], %r4;\nst.global.u32 [%mine+512], %r5;",
            {{1, 1, 1}, {64, 1, 1}},
            kTile);
    std::vector<uint32_t> pending = lab.words(64);  // lanes arrive one after the other
    std::sort(pending.begin(), pending.end());
    for (uint32_t t = 0; t < 64; ++t) {
        CHECK(pending[t] == t + 1);
        CHECK(lab.got(64 + t) == 1);   // phase 0 is over
        CHECK(lab.got(128 + t) == 0);  // phase 1 is not
    }
    CHECK(lab.seen.stalls.empty());
}

TEST_CASE("mbarrier: counts, drops and transactions", "[machine][mbarrier]") {
    Lab lab;
    const auto parity = [](int at) {
        return "mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;\nselp.u32 %r9, 1, 0, %p2;\n"
               "st.global.u32 [%out+" +
               std::to_string(4 * at) + "], %r9;\n";
    };
    lab.run("setp.ne.u32 %p1, %lane, 0;\n@%p1 bra END;\nmov.u32 %r2, bar;\n"
            "mbarrier.init.shared.b64 [%r2], 3;\n" +
                parity(0) + "mbarrier.arrive.shared.b64 %rd1, [%r2], 2;\n" + parity(1) +
                "mbarrier.arrive_drop.shared.b64 %rd1, [%r2];\n" + parity(2) +
                // Two are expected now: phase 1 ends with them, phase 2 begins.
                "mbarrier.arrive.shared.b64 %rd1, [%r2];\n" + parity(3) +
                "mbarrier.arrive.shared.b64 %rd1, [%r2];\n" + parity(4) +
                // A transaction holds phase 2 open.
                "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;\n"
                "mbarrier.arrive.shared.b64 _, [%r2];\n" +
                parity(5) + "mbarrier.complete_tx.shared.b64 [%r2], 12;\n" + parity(6) +
                "mbarrier.complete_tx.shared.b64 [%r2], 4;\n" + parity(7) + "END:",
            {},
            kTile);
    // Whether a phase of parity 0 has just ended, that is, whether the running one is odd.
    const uint32_t want[] = {0, 0, 1, 1, 0, 0, 0, 1};
    for (uint32_t i = 0; i < 8; ++i) {
        CAPTURE(i);
        CHECK(lab.got(i) == want[i]);
    }
}

TEST_CASE("mbarrier: cp.async arrives when its copies are there", "[machine][mbarrier]") {
    Lab lab;
    fill(lab);
    lab.run(
        kStart +
            "setp.ne.u32 %p1, %tid, 0;\n@!%p1 mbarrier.init.shared.b64 [%r2], 32;\nbar.sync 0;\n"
            "cp.async.ca.shared.global [%r1], [%rd1], 4;\n"
            "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n"
            "WAIT:\nmbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra WAIT;\n"
            "xor.b32 %r5, %lane, 31;\nmov.u32 %r6, tile;\nmad.lo.u32 %r6, %r5, 16, %r6;\n"
            "ld.shared.u32 %r3, [%r6];\nst.global.u32 [%mine], %r3;",
        {},
        kTile);
    for (uint32_t lane = 0; lane < 32; ++lane)
        CHECK(lab.got(lane) == 0x01010101u * ((31 - lane) * 4 + 1));
}

TEST_CASE("mbarrier: waiting for a phase that never ends is found", "[machine][mbarrier]") {
    Lab lab;
    lab.machine->set_budget(2'000'000);
    CHECK(lab.run("mov.u32 %r2, bar;\nmbarrier.init.shared.b64 [%r2], 33;\nbar.sync 0;\n"
                  "mbarrier.arrive.shared.b64 %rd1, [%r2];\n"
                  "WAIT:\nmbarrier.try_wait.shared.b64 %p2, [%r2], %rd1;\n@!%p2 bra WAIT;",
                  {},
                  kTile)
              .status == LaunchStatus::kBudget);
}
