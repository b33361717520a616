// SPDX-License-Identifier: MIT
// Races in global memory within one launch: blocks, warps, counters, arrays.
#include "race_players.h"

using namespace player;

TEST_CASE("race-global: blocks that write what others read", "[checks][race]") {
    Global p;
    const auto x = p.global(64);
    p.launch(2, 32);
    p.warp(0, 0).store(10, x.from(0));
    p.warp(1, 0).load(11, x.from(32));
    CHECK(p.races().empty());
    p.warp(1, 0).load(12, x.from(0));
    REQUIRE(p.races() == Lines{"12 after 10"});
    CHECK(p.report.findings()[0].code == "race-global");
    CHECK(p.report.findings()[0].facts.text().find("{\"relation\": \"grid\"") == 0);
    CHECK(p.report.findings()[0].count == 32);
    CHECK(p.report.findings()[0].other_text ==
          "thread (0,0,0) of block (0,0,0) wrote it on line 10, and nothing orders the two blocks");
}

TEST_CASE("race-global: kernel boundaries order everything in a stream", "[checks][race]") {
    Global p;
    const auto x = p.global(64);
    p.launch(2, 32);
    p.warp(0, 0).store(10, x.from(0));
    p.warp(1, 0).atomic(11, x.from(32));
    p.launch(2, 32);
    p.warp(1, 0).load(12, x.from(0));
    p.warp(0, 0).store(13, x.from(32));
    CHECK(p.races().empty());
}

TEST_CASE("race-global: a barrier orders a block's global accesses", "[checks][race]") {
    Global p;
    const auto x = p.global(64);
    p.launch(1, 64);
    p.warp(0, 0).store(10, x.from(0));
    if (GENERATE(true, false)) {
        p.barrier(0);
        p.warp(0, 1).load(11, x.from(0));
        CHECK(p.races().empty());
    } else {
        p.warp(0, 1).load(11, x.from(0));
        CHECK(p.races() == Lines{"11 after 10"});
    }
}

TEST_CASE("race-global: lanes of one warp need __syncwarp in global memory, too",
          "[checks][race]") {
    Global p;
    const auto x = p.global(64);
    p.launch(1, 32);
    p.warp(0, 0).store(10, x.from(0));
    const bool sync = GENERATE(true, false);
    if (sync) p.warp(0, 0).sync();
    p.warp(0, 0).load(11, x.from(1));
    CHECK(p.races() == (sync ? Lines{} : Lines{"11 after 10"}));
}

TEST_CASE("race-global: plain increments by several threads", "[checks][race]") {
    Global p;
    const auto counter = p.global(1);
    const bool blocks = GENERATE(false, true);
    p.launch(blocks ? 2 : 1, 64);
    p.warp(0, 0).load(10, counter.all(0));
    p.warp(0, 0).store_value(11, counter.all(0), 1);  // all lanes read 0
    if (blocks) {
        p.warp(1, 0).load(10, counter.all(0));
        p.warp(1, 0).store_value(11, counter.all(0), 2);
    }
    const Lines races = p.races();
    CHECK(std::find(races.begin(), races.end(), "11 after 10") != races.end());
}

TEST_CASE("race-global: one thread of each block increments plainly", "[checks][race]") {
    Global p;
    const auto counter = p.global(1);
    p.launch(3, 32);
    for (uint32_t b = 0; b < 3; ++b) {
        p.thread(b, 0).load(10, counter[0]);
        p.thread(b, 0).store_value(10, counter[0], b + 1);
    }
    CHECK_FALSE(p.races().empty());
    CHECK(p.report.findings().size() <= 2);
}

TEST_CASE("race-global: a histogram with atomics is silent, with plain counts it is not",
          "[checks][race]") {
    Global p;
    const auto bins = p.global(16);
    p.launch(4, 64);
    const bool atomic = GENERATE(true, false);
    for (uint32_t b = 0; b < 4; ++b)
        for (uint32_t w = 0; w < 2; ++w) {
            const auto bin = [&](uint32_t lane) { return bins[(lane * 7 + b) % 16]; };
            if (atomic) {
                p.warp(b, w).access(10, kReduction, bin);
            } else {
                p.warp(b, w).load(10, bin);
                p.warp(b, w).store(10, bin);
            }
        }
    CHECK(p.races().empty() == atomic);
}

TEST_CASE("race-global: an atomic counter read plainly in the same launch", "[checks][race]") {
    Global p;
    const auto counter = p.global(1);
    p.launch(3, 32);
    for (uint32_t b = 0; b < 3; ++b) p.warp(b, 0).atomic(10, counter.all(0));
    SECTION("by the block that counted last") {
        p.barrier(2);
        p.thread(2, 0).load(11, counter[0]);
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("by the first") {
        p.barrier(0);
        p.thread(0, 0).load(11, counter[0]);
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("atomically") {
        p.thread(0, 0).atomic(11, counter[0]);
        CHECK(p.races().empty());
    }
    SECTION("by a later launch") {
        p.launch(1, 32);
        p.thread(0, 0).load(11, counter[0]);
        CHECK(p.races().empty());
    }
}

TEST_CASE("race-global: a plain load beside an atomic that forgives an older value is a warning",
          "[checks][race]") {
    using checks::Severity;
    const auto [opcode, severity] =
        GENERATE(table<const char*, Severity>({{"atom.global.cas.b32", Severity::kWarning},
                                               {"atom.global.min.s32", Severity::kWarning},
                                               {"red.global.or.b32", Severity::kWarning},
                                               {"atom.global.add.u32", Severity::kError},
                                               {"atom.global.exch.b32", Severity::kError}}));
    CAPTURE(opcode);
    Global p;
    const auto data = p.global(1);
    p.launch(2, 32);
    How how = kAtomic;
    how.opcode = opcode;
    p.thread(0, 0).access(10, how, data[0]);
    SECTION("a load") {
        p.thread(1, 0).load(11, data.all(0));
        REQUIRE(p.report.findings().size() == 1);
        CHECK(p.report.findings()[0].severity == severity);
    }
    SECTION("a store is an error") {
        p.thread(1, 0).store(11, data[0]);
        REQUIRE(p.report.findings().size() == 1);
        CHECK(p.report.findings()[0].severity == Severity::kError);
    }
    SECTION("a load of half of the word is an error") {
        p.thread(1, 0).load(11, data.all(0), 2);
        REQUIRE(p.report.findings().size() >= 1);
        CHECK(p.report.findings()[0].severity == Severity::kError);
    }
}

TEST_CASE("race-global: a counter cleared in the kernel that counts", "[checks][race]") {
    // Only the clearing block itself is ordered by its barrier. Its own atomics come in between.
    Global p;
    const auto counter = p.global(1);
    p.launch(3, 32);
    p.thread(0, 0).store(9, counter[0]);
    p.barrier(0);
    p.warp(0, 0).atomic(10, counter.all(0));
    CHECK(p.races().empty());
    p.warp(1, 0).atomic(10, counter.all(0));
    CHECK(p.races() == Lines{"10 after 9"});
}

TEST_CASE("race-global: many threads raising one plain flag", "[checks][race]") {
    Global p;
    const auto found = p.global(1);
    p.launch(3, 64);
    for (uint32_t b = 0; b < 3; ++b)
        for (uint32_t w = 0; w < 2; ++w) p.warp(b, w, 0x0f0f).store_value(10, found.all(0), 1);
    CHECK(p.races().empty());
    SECTION("read in the next launch") {
        p.launch(1, 32);
        p.warp(0, 0).load(11, found.all(0));
        CHECK(p.races().empty());
    }
    SECTION("read in the same launch, by the block that stored last") {
        p.barrier(2);
        p.thread(2, 0).load(11, found[0]);
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("another value") {
        p.thread(2, 0).store_value(12, found[0], 2);
        CHECK(p.races() == Lines{"12 after 10"});
    }
}

TEST_CASE("race-global: shared and global synchronisation count for both", "[checks][race]") {
    SECTION("a flag in shared memory guards global data") {
        Global p;
        const auto data = p.global(4);
        const auto flag = p.shared(1);
        p.launch(1, 64);
        p.thread(0, 0).store(10, data[0]);
        p.thread(0, 0).fence(Scope::kCta);
        p.thread(0, 0).access(11, kVolatileStore, flag[0]);
        p.thread(0, 50).access(12, kVolatileLoad, flag[0]);
        p.thread(0, 50).load(13, data[0]);
        CHECK(p.races().empty());
    }
    SECTION("a lock in global memory guards shared data, with one checker only") {
        Player p;
        watch_races(p, RaceKinds::kShared);
        const auto lock = p.global(1);
        const auto total = p.shared(1);
        p.launch(1, 64);
        for (const uint32_t t : {0u, 40u, 3u}) {
            p.thread(0, t).atomic(10, lock[0]);
            p.thread(0, t).load(11, total[0]);
            p.thread(0, t).store(12, total[0]);
            p.thread(0, t).fence();
            p.thread(0, t).atomic(13, lock[0]);
        }
        CHECK(p.races().empty());
        p.thread(0, 5).load(14, total[0]);
        CHECK(p.races() == Lines{"14 after 12"});
    }
}

TEST_CASE("race-global: lanes in several arrays, and lanes out of range", "[checks][race]") {
    Global p;
    const auto x = p.global(16), y = p.global(16);
    p.launch(2, 32);
    const auto mixed = [&](uint32_t lane) { return lane < 16 ? x[lane] : y[lane - 16]; };
    p.warp(0, 0).store(10, mixed);
    p.warp(0, 0).store(11, x.from(0));  // lanes 16 and up are out of range: dropped
    CHECK(p.races().empty());
    p.warp(1, 0).load(12, mixed);
    CHECK(p.races().size() == 2);  // with line 10 in y, with line 11 in x
    CHECK(p.report.findings()[0].count + p.report.findings()[1].count == 32);
}

TEST_CASE("race-global: a freed array takes its history along", "[checks][race]") {
    Global p;
    const auto x = p.global(1024);
    p.launch(2, 32);
    p.warp(0, 0).store(10, x.from(3));
    p.end_launch();
    p.free(x);
    const auto y = p.global(1024);
    p.launch(2, 32);
    p.warp(1, 0).load(12, y.from(3));
    CHECK(p.races().empty());
}

TEST_CASE("race-global: findings of a kernel that races everywhere stay few", "[checks][race]") {
    Global p;
    const auto x = p.global(4096);
    p.launch(64, 64);
    for (uint32_t b = 0; b < 64; ++b)
        for (uint32_t w = 0; w < 2; ++w) p.warp(b, w).store(10, x.from(32 * w));
    REQUIRE(p.races() == Lines{"10 after 10"});
    CHECK(p.report.findings()[0].count == 63 * 64);
}

TEST_CASE("race-global: both halves of a warp that read one row are its readers",
          "[checks][race]") {
    Global p;
    const auto x = p.global(64);
    const auto row = [&](uint32_t lane) { return x[lane % 16]; };
    p.launch(1, 32);
    p.warp(0, 0).load(9, row);
    p.launch(1, 32);  // what the first launch left is there to be replaced
    p.warp(0, 0).load(10, row);
    p.thread(0, 3).store(11, x[3]);
    CHECK(p.races() == Lines{"11 after 10"});
}
