// SPDX-License-Identifier: MIT
// Races in shared memory: what named barriers, warp syncs, flags and locks order.
#include "race_players.h"

using namespace player;

TEST_CASE("race-shared: lanes of one warp need __syncwarp", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 32);
    p.warp(0, 0).store(10, tile.from(0));
    SECTION("nothing") {
        p.warp(0, 0, 0x7fffffff).load(12, tile.from(1));
        REQUIRE(p.races() == Lines{"12 after 10"});
        CHECK(p.report.findings()[0].count == 31);
        CHECK(p.report.findings()[0].other_text.find("__syncwarp") != std::string::npos);
    }
    SECTION("__syncwarp") {
        p.warp(0, 0).sync();
        p.warp(0, 0, 0x7fffffff).load(12, tile.from(1));
        CHECK(p.races().empty());
    }
    SECTION("a shuffle names all lanes") {
        p.warp(0, 0).sync(machine::WarpSyncKind::kShuffle);
        p.warp(0, 0, 0x7fffffff).load(12, tile.from(1));
        CHECK(p.races().empty());
    }
    SECTION("__syncthreads") {
        p.barrier(0);
        p.warp(0, 0, 0x7fffffff).load(12, tile.from(1));
        CHECK(p.races().empty());
    }
    SECTION("only half of the warp syncs") {
        p.warp(0, 0, 0xffff).sync();
        p.thread(0, 3).load(12, tile[15]);
        CHECK(p.races().empty());
        p.thread(0, 3).load(13, tile[16]);
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("knowledge passes from sync to sync") {
        p.warp(0, 0, 0x0003).sync();
        p.warp(0, 0, 0x0006).sync();
        p.thread(0, 2).load(12, tile[0]);
        CHECK(p.races().empty());
        p.thread(0, 0).load(13, tile[2]);
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("a sync of the others is not enough") {
        p.warp(0, 0, 0xfffffffe).sync();
        p.thread(0, 0).load(12, tile[1]);
        CHECK(p.races() == Lines{"12 after 10"});
    }
}

TEST_CASE("race-shared: a sync orders only what came before it", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 32);
    p.warp(0, 0, 0xff).sync();
    p.thread(0, 1).store(10, tile[0]);
    p.warp(0, 0, 0xf0).sync();
    p.thread(0, 5).load(12, tile[0]);
    CHECK(p.races() == Lines{"12 after 10"});
}

TEST_CASE("race-shared: lanes that returned do not stand in the way of a sync", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 32);
    p.warp(0, 0).store(10, tile.from(0));
    p.warp(0, 0, 0xffff0000).exit();
    SECTION("of a warp") {
        p.warp(0, 0, 0xffff).sync();
    }
    SECTION("of a block") {
        p.barrier(0);
    }
    p.thread(0, 0).load(12, tile[20]);
    CHECK(p.races().empty());
}

TEST_CASE("race-shared: a named barrier orders its participants only", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(96);
    p.launch(1, 96);
    for (uint32_t w = 0; w < 3; ++w) p.warp(0, w).store(10, tile.from(32 * w));
    SECTION("those who meet") {
        p.named_barrier(0, 1, {0, 1});
        p.warp(0, 0).load(12, tile.from(32));
        p.warp(0, 1).load(12, tile.from(0));
        CHECK(p.races().empty());
        p.warp(0, 0).load(13, tile.from(64));
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("who only arrives does not wait") {
        p.named_barrier(0, 1, {0}, {1});
        p.warp(0, 0).load(12, tile.from(32));
        CHECK(p.races().empty());
        p.warp(0, 1).load(13, tile.from(0));
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("who only arrives does not wait, though the whole block is named") {
        p.named_barrier(0, 1, {0, 2}, {1});
        p.warp(0, 0).load(12, tile.from(32));
        p.warp(0, 2).load(12, tile.from(0));
        CHECK(p.races().empty());
        p.warp(0, 1).load(13, tile.from(0));
        CHECK(p.races() == Lines{"13 after 10"});
    }
    SECTION("producer and consumer, twice") {
        for (int round = 0; round < 2; ++round) {
            p.warp(0, 0).store(20, tile.from(0));
            p.named_barrier(0, 1, {1}, {0});  // full
            p.warp(0, 1).load(21, tile.from(0));
            p.named_barrier(0, 2, {0}, {1});  // empty
        }
        CHECK(p.races().empty());
        p.warp(0, 1).load(22, tile.from(0));
        p.warp(0, 0).store(23, tile.from(0));
        CHECK(p.races() == Lines{"23 after 22"});
    }
    SECTION("all of the block, by another number") {
        p.named_barrier(0, 5, {0, 1, 2});
        p.warp(0, 0).load(12, tile.from(64));
        CHECK(p.races().empty());
    }
    SECTION("through a third") {
        p.named_barrier(0, 1, {0, 1});
        p.named_barrier(0, 2, {1, 2});
        p.warp(0, 2).load(12, tile.from(0));
        CHECK(p.races().empty());
        p.warp(0, 0).load(13, tile.from(64));
        CHECK(p.races() == Lines{"13 after 10"});
    }
}

TEST_CASE("race-shared: atomics race with plain accesses, not with each other", "[checks][race]") {
    Shared p;
    const auto bins = p.shared(64);
    p.launch(1, 64);
    p.warp(0, 0).store(9, bins.from(0));
    p.warp(0, 1).store(9, bins.from(32));
    SECTION("cleared, counted, read, with barriers") {
        p.barrier(0);
        p.warp(0, 0).atomic(10, bins.all(3));
        p.warp(0, 1).atomic(10, bins.all(3));
        p.warp(0, 1).atomic(10, bins.from(0));
        p.barrier(0);
        p.warp(0, 0).load(12, bins.from(0));
        p.barrier(0);
        p.warp(0, 1).store(9, bins.from(0));
        CHECK(p.races().empty());
    }
    SECTION("no barrier after clearing") {
        p.warp(0, 1).atomic(10, bins.all(3));
        REQUIRE(p.races() == Lines{"10 after 9"});
        CHECK(p.report.findings()[0].message.find("updated atomically while another thread may "
                                                  "still be writing it without an atomic") !=
              std::string::npos);
    }
    SECTION("no barrier before reading") {
        p.barrier(0);
        p.warp(0, 0).atomic(10, bins.all(3));
        p.warp(0, 1).atomic(10, bins.all(3));
        p.thread(0, 40).load(12, bins[3]);
        CHECK(p.races() == Lines{"12 after 10"});
    }
    SECTION("the plain read comes first") {
        p.barrier(0);
        p.thread(0, 40).load(12, bins[3]);
        p.warp(0, 0).atomic(13, bins.all(3));
        CHECK(p.races() == Lines{"13 after 12"});
    }
}

TEST_CASE("race-shared: a volatile flag and a fence between warps", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32), flag = p.shared(1);
    p.launch(1, 64);
    const bool fence = GENERATE(true, false);
    p.thread(0, 0).store(10, tile[0]);
    if (fence) p.thread(0, 0).fence(Scope::kCta);
    p.thread(0, 0).access(11, kVolatileStore, flag[0]);
    p.thread(0, 40).access(12, kVolatileLoad, flag[0]);
    p.thread(0, 40).load(13, tile[0]);
    CHECK(p.races() == (fence ? Lines{} : Lines{"13 after 10"}));
}

TEST_CASE("race-shared: an intra-warp spin lock in shared memory", "[checks][race]") {
    Shared p;
    const auto lock = p.shared(1), total = p.shared(1);
    p.launch(1, 32);
    const bool fence = GENERATE(true, false);
    for (uint32_t t = 0; t < 32; ++t) {
        p.thread(0, t).atomic(10, lock[0]);
        p.thread(0, t).load(11, total[0]);
        p.thread(0, t).store(12, total[0]);
        if (fence) p.thread(0, t).fence(Scope::kCta);
        p.thread(0, t).atomic(13, lock[0]);
    }
    CHECK(p.races().empty() == fence);
}

TEST_CASE("race-shared: volatile does not order the lanes of a warp", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(96);
    p.launch(1, 64);
    SECTION("a load of what another lane has stored") {
        p.warp(0, 0).access(10, kVolatileStore, tile.from(0));
        const bool sync = GENERATE(false, true);
        if (sync) p.warp(0, 0).sync();
        p.warp(0, 0).access(11, kVolatileLoad, tile.from(1));
        CHECK(p.races() == (sync ? Lines{} : Lines{"11 after 10"}));
    }
    SECTION("a store to what another lane has loaded") {
        p.warp(0, 0).access(10, kVolatileLoad, tile.from(1));
        p.warp(0, 0).access(11, kVolatileStore, tile.from(0));
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("two stores") {
        p.warp(0, 0).access(10, kVolatileStore, tile.from(0));
        p.warp(0, 0).access(11, kVolatileStore, tile.from(1));
        CHECK(p.races() == Lines{"11 after 10"});
    }
    SECTION("each lane its own cell") {
        p.warp(0, 0).access(10, kVolatileStore, tile.from(0));
        p.warp(0, 0).access(11, kVolatileLoad, tile.from(0));
        CHECK(p.races().empty());
    }
    SECTION("another warp") {
        p.warp(0, 0).access(10, kVolatileStore, tile.from(0));
        p.warp(0, 1).access(11, kVolatileLoad, tile.from(0));
        CHECK(p.races().empty());
    }
    SECTION("an atomic is not volatile") {
        p.warp(0, 0).access(10, kVolatileStore, tile.from(0));
        p.warp(0, 0).atomic(11, tile.from(1));
        CHECK(p.races().empty());
    }
}
