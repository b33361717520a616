// SPDX-License-Identifier: MIT
// Races in global memory: fences, flags, locks and releases, and how far they reach.
#include "race_players.h"

using namespace player;

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
    const How load = GENERATE(kVolatileLoad, kAcquireLoad, kAtomic);
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

TEST_CASE("race-global: a relaxed read acquires with a fence after it", "[checks][race]") {
    enum { kNothing, kFence, kFenceBefore, kBarrierAndFence, kOthersFence, kReleaseOfItsOwn };
    const int variant = GENERATE(range(int(kNothing), kReleaseOfItsOwn + 1));
    const How read = GENERATE(kRelaxedLoad, kRelaxedAdd);
    Global p;
    const auto data = p.global(64), flag = p.global(2);
    p.launch(2, 64);
    p.thread(0, 0).store(10, data[0]);
    p.thread(0, 0).access(11, kReleaseStore, flag[0]);
    if (variant == kFenceBefore) p.thread(1, 0).fence();
    p.thread(1, 0).access(12, read, flag[0]);
    uint32_t reader = 0;
    if (variant == kFence) p.thread(1, 0).fence();
    if (variant == kReleaseOfItsOwn) p.thread(1, 0).access(13, kReleaseStore, flag[1]);
    if (variant == kOthersFence) p.thread(1, 1).fence();
    if (variant == kBarrierAndFence) {
        p.barrier(1);
        reader = 40;
        p.thread(1, reader).fence();
    }
    p.thread(1, reader).load(14, data[0]);
    const bool right = variant == kFence || variant == kBarrierAndFence;
    CHECK(p.races() == (right ? Lines{} : Lines{"14 after 10"}));
}

TEST_CASE("race-global: a thread that did not poll acquires nothing", "[checks][race]") {
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

TEST_CASE("race-global: knowledge passes through third threads", "[checks][race]") {
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
