// SPDX-License-Identifier: MIT
// Races in global memory within one launch: blocks, fences, flags, locks, grid-wide syncs.
#include <algorithm>
#include <random>

#include "catch.h"
#include "checks/race_global.h"
#include "checks/race_shared.h"
#include "event_player.h"

using namespace player;

namespace {

struct Global : Player {
    Global() {
        watch(checks::make_race_shared(report, memory));
        watch(checks::make_race_global(report, memory));
    }
    // As cooperative groups do it: each block's thread 0 adds and polls between two barriers.
    void grid_sync(uint32_t blocks, uint64_t counter) {
        for (uint32_t b = 0; b < blocks; ++b) {
            barrier(b);
            thread(b, 0).access(90, kReleaseAdd, counter);
        }
        for (uint32_t b = 0; b < blocks; ++b) {
            thread(b, 0).access(91, kAcquireLoad, counter);
            barrier(b);
        }
    }
};

}  // namespace

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

TEST_CASE("race-global: the last block done sums up", "[checks][race]") {
    enum Variant {
        kFenceByWriter,
        kFenceByAll,
        kFenceLateByThread0,
        kNone,
        kFenceAfter,
        kBlockFence
    };
    const Variant variant =
        GENERATE(kFenceByWriter, kFenceByAll, kFenceLateByThread0, kNone, kFenceAfter, kBlockFence);
    CAPTURE(int(variant));
    const uint32_t blocks = 40;  // more than a pair of anything
    Global p;
    const auto partial = p.global(blocks), ticket = p.global(1), all = p.global(blocks * 64);
    const auto last = p.shared(1);
    p.launch(blocks, 64);
    for (uint32_t b = 0; b < blocks; ++b) {
        for (uint32_t w = 0; w < 2; ++w) p.warp(b, w).store(8, all.from(64 * b + 32 * w));
        if (variant == kFenceByAll)
            for (uint32_t w = 0; w < 2; ++w) p.warp(b, w).fence();
        p.barrier(b);
        p.thread(b, 0).store(10, partial[b]);
        if (variant == kFenceByWriter || variant == kFenceByAll) p.thread(b, 0).fence();
        if (variant == kFenceLateByThread0) {
            p.thread(b, 0).fence();
            p.barrier(b);
        }
        if (variant == kBlockFence) p.thread(b, 0).fence(Scope::kCta);
        p.thread(b, 0).atomic(12, ticket[0]);
        if (variant == kFenceAfter) p.thread(b, 0).fence();
        p.thread(b, 0).store(13, last[0]);
        p.barrier(b);
        for (uint32_t w = 0; w < 2; ++w) p.warp(b, w).load(14, last.all(0));
    }
    CHECK(p.races().empty());
    const uint32_t b = blocks - 1;
    const bool is_volatile = GENERATE(true, false);
    for (uint32_t w = 0; w < 2; ++w) {
        p.warp(b, w, w ? 0xff : machine::kAllLanes)
            .access(15, is_volatile ? kVolatileLoad : kLoad, partial.from(32 * w));
        p.warp(b, w).load(16, all.from(32 * w));
    }
    p.barrier(b);
    p.thread(b, 0).store(17, ticket[0]);  // reset for the next launch
    const bool right = variant <= kFenceLateByThread0;
    CHECK(p.races().empty() == right);
    if (!right) CHECK(p.races()[0] == "15 after 10");
}

TEST_CASE("race-global: a fence of another thread publishes only its own", "[checks][race]") {
    // All threads store, thread 0 alone fences before the barrier, and signals after it.
    Global p;
    const auto x = p.global(64), ticket = p.global(1);
    p.launch(2, 64);
    for (uint32_t w = 0; w < 2; ++w) p.warp(0, w).store(8, x.from(32 * w));
    p.thread(0, 0).fence();
    p.barrier(0);
    p.thread(0, 0).atomic(9, ticket[0]);
    p.thread(1, 0).atomic(9, ticket[0]);
    p.thread(1, 0).load(10, x[0]);
    CHECK(p.races().empty());
    p.thread(1, 0).load(11, x[40]);
    CHECK(p.races() == Lines{"11 after 8"});
}

TEST_CASE("race-global: the latest fence counts", "[checks][race]") {
    Global p;
    const auto x = p.global(4), flag = p.global(1);
    p.launch(2, 32);
    for (int i = 0; i < 3; ++i) {
        p.thread(0, 0).store(8, x[i]);
        p.thread(0, 0).fence(i == 1 ? Scope::kCta : Scope::kGpu);
    }
    p.thread(0, 0).atomic(10, flag[0]);
    p.thread(1, 0).atomic(11, flag[0]);
    for (int i = 0; i < 3; ++i) p.thread(1, 0).load(12, x[i]);
    CHECK(p.races().empty());
}

TEST_CASE("race-global: a release of block scope leaves nothing for later signals",
          "[checks][race]") {
    Global p;
    const auto x = p.global(1), flag = p.global(2);
    p.launch(2, 32);
    p.thread(0, 0).store(8, x[0]);
    p.thread(0, 0).access(9, kReleaseStoreBlock, flag[0]);
    p.thread(0, 0).atomic(10, flag[1]);
    p.thread(1, 0).atomic(11, flag[1]);
    p.thread(1, 0).load(12, x[0]);
    CHECK(p.races() == Lines{"12 after 8"});
}

TEST_CASE("race-global: what is stored after the fence is not published", "[checks][race]") {
    Global p;
    const auto x = p.global(2), flag = p.global(1);
    p.launch(2, 32);
    p.thread(0, 0).store(8, x[0]);
    p.thread(0, 0).fence();
    p.thread(0, 0).store(9, x[1]);
    p.thread(0, 0).access(10, kVolatileStore, flag[0]);
    p.thread(1, 0).access(11, kVolatileLoad, flag[0]);
    p.thread(1, 0).load(12, x[0]);
    CHECK(p.races().empty());
    p.thread(1, 0).load(13, x[1]);
    CHECK(p.races() == Lines{"13 after 9"});
}

TEST_CASE("race-global: a flag between blocks", "[checks][race]") {
    struct Case {
        How store;
        Scope fence;
        bool right;
    };
    const Case c = GENERATE(Case{kVolatileStore, Scope::kGpu, true},
                            Case{kVolatileStore, Scope::kSys, true},
                            Case{kVolatileStore, Scope::kCta, false},
                            Case{kVolatileStore, Scope::kNone, false},
                            Case{kRelaxedStore, Scope::kGpu, true},
                            Case{kReleaseStore, Scope::kNone, true},
                            Case{kReleaseAdd, Scope::kNone, true},
                            Case{kAcqRelAdd, Scope::kNone, true},
                            Case{kAtomic, Scope::kGpu, true},
                            Case{kAtomic, Scope::kNone, false});
    const How load = GENERATE(kVolatileLoad, kRelaxedLoad, kAcquireLoad, kAtomic);
    Global p;
    const auto data = p.global(64), flag = p.global(1);
    p.launch(2, 32);
    p.thread(1, 0).access(9, load, flag[0]);  // polled too early
    p.warp(0, 0).store(10, data.from(0));
    p.warp(0, 0).sync();
    if (c.fence != Scope::kNone) p.thread(0, 0).fence(c.fence);
    p.thread(0, 0).access(11, c.store, flag[0]);
    p.thread(1, 0).access(12, load, flag[0]);
    p.warp(1, 0).sync();
    p.warp(1, 0).load(13, data.from(0));
    CHECK(p.races() == (c.right ? Lines{} : Lines{"13 after 10"}));
    if (c.right) {
        // What the consumer did is still unknown to the producer.
        p.warp(0, 0).store(14, data.from(0));
        CHECK(p.races() == Lines{"14 after 13"});
    }
}

TEST_CASE("race-global: who did not poll does not know", "[checks][race]") {
    Global p;
    const auto data = p.global(64), flag = p.global(1);
    p.launch(3, 32);
    p.thread(0, 0).store(10, data[0]);
    p.thread(0, 0).access(11, kReleaseStore, flag[0]);
    p.thread(1, 0).access(12, kAcquireLoad, flag[0]);
    p.thread(1, 1).load(13, data[0]);
    CHECK(p.races() == Lines{"13 after 10"});
    p.thread(2, 0).load(14, data[0]);
    CHECK(p.races().size() == 2);
}

TEST_CASE("race-global: a flag raised by a plain store", "[checks][race]") {
    Global p;
    const auto data = p.global(64), flag = p.global(1);
    p.launch(2, 32);
    p.thread(0, 0).store(10, data[0]);
    p.thread(0, 0).fence();
    p.thread(0, 0).store(11, flag[0]);
    p.thread(1, 0).access(12, kVolatileLoad, flag[0]);
    p.thread(1, 0).load(13, data[0]);
    CHECK(p.races() == Lines{"12 after 11"});  // one bug, one finding
}

TEST_CASE("race-global: block scope does not reach another block", "[checks][race]") {
    Global p;
    const auto data = p.global(64), flag = p.global(1);
    p.launch(2, 64);
    p.thread(0, 0).store(10, data[0]);
    p.thread(0, 0).access(11, kReleaseStoreBlock, flag[0]);
    SECTION("the same block") {
        p.thread(0, 40).access(12, kAcquireLoad, flag[0]);
        p.thread(0, 40).load(13, data[0]);
        CHECK(p.races().empty());
    }
    SECTION("another block") {
        p.thread(1, 0).access(12, kAcquireLoad, flag[0]);
        p.thread(1, 0).load(13, data[0]);
        CHECK(p.races() == Lines{"12 after 11", "13 after 10"});
        CHECK(p.report.findings()[0].message.find("block scope") != std::string::npos);
    }
    SECTION("counters of block scope") {
        const auto counter = p.global(2);
        p.warp(0, 0).access(14, kBlockAtomic, counter.all(0));
        p.warp(0, 1).access(14, kBlockAtomic, counter.all(0));
        p.warp(1, 0).access(14, kBlockAtomic, counter.all(1));
        CHECK(p.races().empty());
        p.warp(1, 0).access(14, kBlockAtomic, counter.all(0));
        CHECK(p.races() == Lines{"14 after 14"});
    }
}

TEST_CASE("race-global: spin locks", "[checks][race]") {
    enum Variant { kRight, kNoFence, kPlainUnlock, kOneForgetsTheLock };
    const Variant variant = GENERATE(kRight, kNoFence, kPlainUnlock, kOneForgetsTheLock);
    const bool one_warp = GENERATE(true, false);
    CAPTURE(int(variant), one_warp);
    Global p;
    const auto lock = p.global(1), total = p.global(1);
    p.launch(one_warp ? 1 : 8, 32);
    for (uint32_t i = 0; i < 8; ++i) {
        const auto who = [&] { return one_warp ? p.thread(0, i * 3) : p.thread(i, 0); };
        const bool locks = variant != kOneForgetsTheLock || i != 2;
        if (locks) {
            who().atomic(10, lock[0]);
            who().atomic(10, lock[0]);  // spins
        }
        who().load(11, total[0]);
        who().store(12, total[0]);
        if (locks && variant != kNoFence) who().fence();
        if (variant == kPlainUnlock) {
            who().store(13, lock[0]);
        } else if (locks) {
            who().atomic(13, lock[0]);
        }
    }
    CHECK(p.races().empty() == (variant == kRight));
}

TEST_CASE("race-global: grid-wide sync as cooperative groups do it", "[checks][race]") {
    Global p;
    const uint32_t blocks = 12;
    const auto a = p.global(blocks * 64), b = p.global(blocks * 64), counter = p.global(1);
    p.launch(blocks, 64);
    const bool sync = GENERATE(true, false);
    for (int round = 0; round < 3; ++round) {
        const auto &from = round % 2 ? b : a, &to = round % 2 ? a : b;
        for (uint32_t k = 0; k < blocks; ++k)
            for (uint32_t w = 0; w < 2; ++w) {
                const int64_t first = 64 * k + 32 * w;
                // Reads its neighbours' elements, and one word that everybody reads.
                p.warp(k, w).load(10, [&](uint32_t lane) {
                    return from[(first + lane + 1) % int64_t(blocks * 64)];
                });
                p.warp(k, w).load(11, from.all(5));
                p.warp(k, w).store(12, to.from(first));
            }
        if (sync || round == 1) p.grid_sync(blocks, counter[0]);
    }
    CHECK(p.races().empty() == sync);
}

TEST_CASE("race-global: a release alone acquires nothing", "[checks][race]") {
    Global p;
    const auto a = p.global(64), counter = p.global(1);
    p.launch(2, 32);
    p.thread(0, 0).store(10, a[0]);
    p.thread(0, 0).access(11, kReleaseReduction, counter[0]);
    SECTION("a reduction does not read") {
        p.thread(1, 0).access(11, kReleaseReduction, counter[0]);
        p.thread(1, 0).load(12, a[0]);
        CHECK(p.races() == Lines{"12 after 10"});
    }
    SECTION("but passes on what it finds") {
        p.thread(1, 0).access(13, kReduction, counter[0]);
        p.thread(1, 1).access(14, kAcquireLoad, counter[0]);
        p.thread(1, 1).load(12, a[0]);
        CHECK(p.races().empty());
    }
    SECTION("a store replaces it") {
        p.thread(1, 0).access(13, kRelaxedStore, counter[0]);
        p.thread(1, 1).access(14, kAcquireLoad, counter[0]);
        p.thread(1, 1).load(12, a[0]);
        CHECK(p.races() == Lines{"12 after 10"});
    }
}

TEST_CASE("race-global: a decoupled look-back scan", "[checks][race]") {
    enum Variant { kFlagAndFence, kPacked, kVector, kNoFence };
    const Variant variant = GENERATE(kFlagAndFence, kPacked, kVector, kNoFence);
    CAPTURE(int(variant));
    const uint32_t tiles = 70;
    Global p;
    const auto flag = p.global(tiles), value = p.global(tiles), packed = p.global(tiles * 2, 8);
    p.launch(tiles, 64);
    for (uint32_t t = 0; t < tiles; ++t) {
        for (int inclusive = 0; inclusive < 2; ++inclusive) {
            if (inclusive) {
                // A window of predecessors, one a lane.
                const uint32_t n = std::min(t, 32u);
                if (n) {
                    const uint32_t mask = n == 32 ? machine::kAllLanes : (1u << n) - 1;
                    auto window = p.warp(t, 0, mask);
                    const int64_t first = int64_t(t) - 1;
                    if (variant == kPacked) {
                        window.access(20, kRelaxedLoad, packed.from(first, -1), 8);
                    } else if (variant == kVector) {
                        window.access(20, kVolatileLoad, packed.from(2 * (first - n + 1), 2), 16);
                    } else {
                        window.access(20, kVolatileLoad, flag.from(first, -1));
                        if (variant != kNoFence) window.fence();
                        window.load(21, value.from(first, -1));
                    }
                    p.warp(t, 0).sync(machine::WarpSyncKind::kShuffle);
                }
            }
            auto self = p.thread(t, 0);
            if (variant == kPacked) {
                self.access(30, kRelaxedStore, packed[t], 8);
            } else if (variant == kVector) {
                self.access(30, kVolatileStore, packed[2 * t], 16);
            } else if (!inclusive) {
                self.store(31, value[t]);
                if (variant != kNoFence) self.fence();
                self.access(32, kVolatileStore, flag[t]);
            }
            if (variant != kPacked && variant != kVector) break;
        }
    }
    // Tile t only looks at flags in a second phase here; do it for the flag variants.
    if (variant == kFlagAndFence || variant == kNoFence)
        for (uint32_t t = 1; t < tiles; ++t) {
            p.thread(t, 0).access(20, kVolatileLoad, flag[t - 1]);
            p.thread(t, 0).load(21, value[t - 1]);
        }
    CHECK(p.races().empty() == (variant != kNoFence));
}

TEST_CASE("race-global: tiles in place, and a status word without a fence", "[checks][race]") {
    // Tile t is stored to where tile t - 2 was, which it knows of by tile t - 1's status word. What
    // the word says was computed from the loads, so they are over; for stores, nothing says so.
    Global p;
    const uint32_t tiles = 6;
    const auto x = p.global(32 * tiles), status = p.global(tiles, 8);
    p.launch(tiles, 64);
    const bool loads_late = GENERATE(false, true), stores = GENERATE(false, true);
    for (uint32_t t = 0; t < tiles; ++t) {
        p.warp(t, 1).access(10, stores ? kStore : kLoad, x.from(32 * t));
        p.barrier(t);
        if (t) {
            p.thread(t, 5).access(11, kRelaxedLoad, status[t - 1], 8);
            p.warp(t, 0).sync(machine::WarpSyncKind::kShuffle);
        }
        p.thread(t, 0).load(9, x[32 * t + 7]);
        p.thread(t, 0).access(12, kRelaxedStore, status[t], 8);
        if (loads_late) p.thread(t, 0).load(13, x[32 * t + 3]);
        p.barrier(t);
        if (t >= 2) p.warp(t, 0).store(14, x.from(32 * (t - 2)));
    }
    const Lines races = p.races();
    // Nobody had stored before: who loads is to blame.
    const char* const late = stores ? "14 after 13" : "13 after 14";
    CHECK(std::count(races.begin(), races.end(), late) == loads_late);
    CHECK(std::count(races.begin(), races.end(), "14 after 10") == stores);
    CHECK(races.size() == size_t(loads_late) + size_t(stores));
}

TEST_CASE("race-global: knowledge goes through third parties", "[checks][race]") {
    Global p;
    const auto data = p.global(8), flags = p.global(8);
    p.launch(5, 32);
    p.thread(0, 0).store(10, data[0]);
    for (uint32_t b = 0; b < 4; ++b) {
        p.thread(b, b).sync();
        if (b) p.thread(b, 0).access(11, kAcquireLoad, flags[b - 1]);
        p.thread(b, 0).access(12, kReleaseStore, flags[b]);
    }
    p.thread(4, 0).access(13, kAcquireLoad, flags[3]);
    p.thread(4, 0).store(14, data[0]);
    CHECK(p.races().empty());
    p.thread(2, 0).load(15, data[0]);
    CHECK(p.races() == Lines{"15 after 14"});
}

TEST_CASE("race-global: many consumers, one of which answers too early", "[checks][race]") {
    // Its read is neither the last nor the last but one when the producer overwrites the data.
    Global p;
    const uint32_t consumers = 9;
    const auto data = p.global(32), go = p.global(1), done = p.global(1);
    p.launch(consumers + 1, 32);
    const bool early = GENERATE(true, false), whole_warps = GENERATE(true, false);
    const bool barriers = GENERATE(true, false);
    const auto meet = [&](uint32_t block) {
        if (barriers) {
            p.barrier(block);
        } else {
            p.warp(block, 0).sync();
        }
    };
    p.warp(0, 0).store(10, data.from(0));
    meet(0);
    p.thread(0, 0).access(11, kReleaseStore, go[0]);
    for (uint32_t c = 1; c <= consumers; ++c) {
        p.thread(c, 0).access(12, kAcquireLoad, go[0]);
        meet(c);
        const bool wrong = early && c == 3;
        if (wrong) p.thread(c, 0).access(13, kReleaseAdd, done[0]);
        if (whole_warps) {
            p.warp(c, 0).load(14, data.from(0));
        } else {
            p.thread(c, 5).load(14, data[7]);
        }
        meet(c);
        if (!wrong) p.thread(c, 0).access(13, kReleaseAdd, done[0]);
    }
    p.thread(0, 0).access(15, kAcquireLoad, done[0]);
    meet(0);
    if (whole_warps) {
        p.warp(0, 0).store(16, data.from(0));
    } else {
        p.thread(0, 9).store(16, data[7]);
    }
    CHECK(p.races() == (early ? Lines{"16 after 14"} : Lines{}));
}

TEST_CASE("race-global: a reader of another block is not pushed aside", "[checks][race]") {
    Global p;
    const auto x = p.global(1);
    p.launch(2, 32);
    p.thread(1, 7).load(10, x[0]);
    p.thread(0, 0).load(11, x[0]);
    p.thread(0, 1).load(12, x[0]);
    p.barrier(0);
    p.thread(0, 0).store(13, x[0]);
    REQUIRE(p.races().size() == 1);
    CHECK(p.report.findings()[0].place.line == 10);
}

TEST_CASE("race-global: random programs agree with a model of blocks", "[checks][race]") {
    // Blocks that take turns, barriers, whole-warp syncs; loads, stores and atomics of single
    // threads.
    const int seed = GENERATE(range(0, 120));
    std::mt19937 random(unsigned(seed) * 65537 + 5);
    const auto pick = [&](uint32_t n) { return uint32_t(random() % n); };
    Global p;
    const uint32_t words = 1 + pick(6), blocks = 1 + pick(3);
    const auto x = p.global(words);
    p.launch(blocks, 64);
    enum Kind { kRead, kWrite, kCount };
    struct Past {
        uint32_t word, block, thread, block_epoch, warp_epoch;
        Kind kind;
    };
    std::vector<Past> past;
    std::vector<uint32_t> block_epoch(blocks), warp_epoch(blocks * 2);
    bool race = false;
    for (int step = 0; step < 60 && !race; ++step) {
        const uint32_t block = pick(blocks), thread = pick(2) * 32 + pick(3), what = pick(8);
        uint32_t& warp = warp_epoch[block * 2 + thread / 32];
        if (what == 0) {
            p.barrier(block);
            ++block_epoch[block];
            ++warp_epoch[block * 2];
            ++warp_epoch[block * 2 + 1];
        } else if (what == 1) {
            p.warp(block, thread / 32).sync();
            ++warp;
        } else {
            const uint32_t word = pick(words);
            const Kind kind = pick(10) == 0 ? kWrite : seed % 2 || pick(8) == 0 ? kRead : kCount;
            for (const Past& other : past) {
                if (other.word != word || (other.kind == kind && kind != kWrite)) continue;
                const bool same_block = other.block == block;
                const bool same_warp = same_block && other.thread / 32 == thread / 32;
                race |= !(same_block && other.block_epoch < block_epoch[block]) &&
                        !(same_warp && (other.thread == thread || other.warp_epoch < warp));
            }
            past.push_back({word, block, thread, block_epoch[block], warp, kind});
            const uint32_t line = 10 + uint32_t(step);
            auto self = p.thread(block, thread);
            if (kind == kRead) self.load(line, x[word]);
            if (kind == kWrite) self.store(line, x[word]);
            if (kind == kCount) self.atomic(line, x[word]);
        }
        CAPTURE(step);
        REQUIRE(p.races().empty() == !race);
    }
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
        p.watch(checks::make_race_shared(p.report, p.memory));
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
