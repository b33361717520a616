// SPDX-License-Identifier: MIT
// Races in shared memory: barriers, blocks that follow each other, and who is named.
#include "race_players.h"

using namespace player;

TEST_CASE("race-shared: a missing barrier after the store is found", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(256);
    p.launch(1, 256);
    for (uint32_t w = 0; w < 8; ++w) p.warp(0, w).store(10, tile.from(32 * w));
    SECTION("no barrier") {
        p.warp(0, 0).load(12, tile.from(128));
        REQUIRE(p.races() == Lines{"12 after 10"});
        const checks::Finding& f = p.report.findings()[0];
        CHECK(f.code == "race-shared");
        CHECK(f.count == 32);
        CHECK(f.message.find("[128]` is read while another thread may still be writing it") !=
              std::string::npos);
        CHECK(f.other_text == "thread (128,0,0) wrote it on line 10, and no barrier lies between");
        CHECK(f.place.thread->x == 0);
        CHECK(f.other->thread->x == 128);
    }
    SECTION("a barrier") {
        p.barrier(0);
        p.warp(0, 0).load(12, tile.from(128));
        CHECK(p.races().empty());
    }
    SECTION("a thread may read what it wrote itself") {
        for (uint32_t w = 0; w < 8; ++w) p.warp(0, w).load(12, tile.from(32 * w));
        CHECK(p.races().empty());
    }
}

TEST_CASE("race-shared: a missing barrier before the next store is found", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(64);
    p.launch(1, 64);
    for (uint32_t w = 0; w < 2; ++w) p.warp(0, w).store(10, tile.from(32 * w));
    p.barrier(0);
    const bool fixed = GENERATE(false, true);
    // Each warp continues to the next round by itself, as without a second barrier.
    p.warp(0, 0).load(12, tile.from(32));
    if (fixed) {
        p.warp(0, 1).load(12, tile.from(0));
        p.barrier(0);
    }
    p.warp(0, 0).store(10, tile.from(0));
    if (!fixed) p.warp(0, 1).load(12, tile.from(0));
    CHECK(p.races() == (fixed ? Lines{} : Lines{"10 after 12"}));
}

TEST_CASE("race-shared: the store of the second warp after the load of the first",
          "[checks][race]") {
    Shared p;
    const auto tile = p.shared(64);
    p.launch(1, 64);
    p.warp(0, 1).store(8, tile.from(32));
    p.barrier(0);
    p.warp(0, 0).load(12, tile.from(32));
    if (GENERATE(true, false)) {
        p.warp(0, 1).store(14, tile.from(32));
        CHECK(p.races() == Lines{"14 after 12"});
    } else {
        p.barrier(0);
        p.warp(0, 1).store(14, tile.from(32));
        CHECK(p.races().empty());
    }
}

TEST_CASE("race-shared: the reported line does not depend on which thread runs first",
          "[checks][race]") {
    Shared p;
    const auto tile = p.shared(64);
    p.launch(1, 64);
    const bool first_runs_first = GENERATE(true, false);
    const auto warps = first_runs_first ? std::array{0u, 1u} : std::array{1u, 0u};
    SECTION("store, then load") {
        for (const uint32_t w : warps) {
            p.warp(0, w).store(10, tile.from(32 * w));
            p.warp(0, w).load(12, tile.from(32 - 32 * w));
        }
        CHECK(p.races() == Lines{"12 after 10"});
    }
    SECTION("a loop with a barrier after the store and none after the load") {
        p.warp(0, 0).store(10, tile.from(0));
        p.warp(0, 1).store(10, tile.from(32));
        p.barrier(0);
        for (const uint32_t w : warps) {
            p.warp(0, w).load(12, tile.from(32 - 32 * w));
            p.warp(0, w).store(10, tile.from(32 * w));
        }
        CHECK(p.races() == Lines{"10 after 12"});
    }
    SECTION("each warp runs one of them only") {
        p.warp(0, 0).store(9, tile.from(0));
        p.barrier(0);
        if (first_runs_first) p.warp(0, 0).load(12, tile.from(32));
        p.warp(0, 1).store(10, tile.from(32));
        if (!first_runs_first) p.warp(0, 0).load(12, tile.from(32));
        CHECK(p.races() == Lines{"12 after 10"});  // who reads comes too early
    }
}

TEST_CASE("race-shared: every reader counts, not only the last", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(4);
    p.launch(1, 128);
    // Threads 70 and 3 read; then 3 stores. The last reader is the storing thread itself.
    p.thread(0, 3).store(8, tile[0]);
    p.barrier(0);
    p.thread(0, 70).load(10, tile[0]);
    p.thread(0, 3).load(11, tile[0]);
    p.thread(0, 3).store(12, tile[0]);
    CHECK(p.races() == Lines{"12 after 10"});
}

TEST_CASE("race-shared: a reader before the barrier does not hide one after it", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(4);
    p.launch(1, 128);
    p.thread(0, 100).load(9, tile[0]);
    p.barrier(0);
    p.thread(0, 4).load(10, tile[0]);
    p.thread(0, 3).load(11, tile[0]);
    p.thread(0, 3).store(12, tile[0]);
    CHECK(p.races() == Lines{"12 after 10"});
}

TEST_CASE("race-shared: two readers of one warp do not hide one of another", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(4);
    p.launch(1, 64);
    p.thread(0, 0).load(10, tile[0]);
    p.thread(0, 1).load(11, tile[0]);
    p.thread(0, 40).load(12, tile[0]);
    p.warp(0, 0).sync();
    p.thread(0, 0).store(13, tile[0]);
    REQUIRE(p.races().size() == 1);
    CHECK(p.report.findings()[0].place.line == 12);
}

TEST_CASE("race-shared: one load by lanes that know and lanes that do not", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(4);
    p.launch(1, 32);
    p.thread(0, 5).store(10, tile[0]);
    p.warp(0, 0, 0x0000ff2f).sync();  // all of 0 to 15 but 4, 6 and 7
    p.warp(0, 0, 0xf).load(11, tile.all(0));
    CHECK(p.races().empty());
    p.warp(0, 0, 0x1f).load(12, tile.all(0));
    REQUIRE(p.races() == Lines{"12 after 10"});
    CHECK(p.report.findings()[0].count == 1);
}

TEST_CASE("race-shared: a tree reduction", "[checks][race]") {
    const bool barrier_inside = GENERATE(true, false);
    Shared p;
    const auto tile = p.shared(256);
    p.launch(1, 256);
    for (uint32_t w = 0; w < 8; ++w) p.warp(0, w).store(10, tile.from(32 * w));
    p.barrier(0);
    for (uint32_t half = 128; half; half /= 2) {
        for (uint32_t w = 0; w < (half + 31) / 32; ++w) {
            const uint32_t mask = half >= 32 ? machine::kAllLanes : (1u << half) - 1;
            p.warp(0, w, mask).load(13, tile.from(32 * w + half));
            p.warp(0, w, mask).load(14, tile.from(32 * w));
            p.warp(0, w, mask).store(15, tile.from(32 * w));
        }
        if (barrier_inside) p.barrier(0);
    }
    CHECK(p.races() == (barrier_inside ? Lines{} : Lines{"13 after 15"}));
}

TEST_CASE("race-shared: blocks that take turns do not meet", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(2, 32);
    p.warp(0, 0).store(10, tile.from(0));
    p.warp(1, 0).load(12, tile.from(1 - 1, 1));
    p.thread(1, 3).load(13, tile[5]);
    CHECK(p.races().empty());
    p.warp(0, 0).sync();
    p.thread(1, 3).store(14, tile[5]);
    p.thread(0, 3).load(15, tile[5]);
    CHECK(p.races() == Lines{"14 after 12"});  // within block 1
}

TEST_CASE("race-shared: a block does not inherit what an earlier one left", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    for (int launch = 0; launch < 3; ++launch) {
        p.launch(1, 64);
        p.warp(0, 0).store(10, tile.from(0));
        p.warp(0, 0, 1).load(11, tile.from(0));
        p.warp(0, 0, 2).atomic(12, tile.from(0));
    }
    p.end_launch();
    CHECK(p.races().empty());
}

TEST_CASE("race-shared: nor what an earlier block of the launch left", "[checks][race]") {
    Shared p;
    const auto tile = p.shared(32);
    p.launch(1, 64);
    for (int block = 0; block < 3; ++block) {
        p.warp(0, 0, 0xffff).store(10, tile.from(0));
        p.warp(0, 0, 0xffff).load(11, tile.from(0));
        p.warp(0, 0, 0xffff).atomic(12, tile.from(0));
        p.next_block(0);
    }
    CHECK(p.races().empty());
}

TEST_CASE("race-shared: dynamic and static variables share a sector", "[checks][race]") {
    Shared p;
    const auto flag = p.shared(1), other = p.shared(3), tile = p.shared(32);
    p.launch(1, 64);
    p.thread(0, 0).store(10, flag[0]);
    p.thread(0, 33).store(11, other[0]);
    p.warp(0, 1).store(12, tile.from(0));
    CHECK(p.races().empty());
    p.thread(0, 33).load(13, flag[0]);
    CHECK(p.races() == Lines{"13 after 10"});
}

TEST_CASE("race-shared: random programs agree with a full vector clock", "[checks][race]") {
    // Whole barriers, whole-warp syncs and plain accesses by any lanes; the model keeps every
    // access and compares each pair, the checker must find a race in the same programs.
    const int seed = GENERATE(range(0, 60));
    std::mt19937 random(unsigned(seed) * 7919 + 1);
    const auto pick = [&](uint32_t n) { return uint32_t(random() % n); };
    Shared p;
    const uint32_t words = 1 + pick(12), warps = 1 + pick(3);
    const auto tile = p.shared(words);
    p.launch(1, warps * 32);
    struct Past {
        uint32_t word, thread, block_epoch, warp_epoch;
        bool write;
    };
    std::vector<Past> past;
    uint32_t block_epoch = 0;
    std::vector<uint32_t> warp_epoch(warps, 0);
    bool race = false;
    const bool calm = seed % 2;  // many syncs: programs without a race must occur, too
    for (int step = 0; step < 40 && !race; ++step) {
        const uint32_t what = pick(calm ? 4 : 10);
        if (what == 0) {
            p.barrier(0);
            ++block_epoch;
            for (uint32_t& e : warp_epoch) ++e;
        } else if (what == 1) {
            const uint32_t w = pick(warps);
            p.warp(0, w).sync();
            ++warp_epoch[w];
        } else {
            const uint32_t thread = pick(3) + 32 * pick(warps), word = pick(words);
            const bool write = pick(3) == 0;
            for (const Past& other : past) {
                if (other.word != word || !(write || other.write) || other.thread == thread)
                    continue;
                const bool same_warp = other.thread / 32 == thread / 32;
                race |= other.block_epoch == block_epoch &&
                        !(same_warp && other.warp_epoch < warp_epoch[thread / 32]);
            }
            past.push_back({word, thread, block_epoch, warp_epoch[thread / 32], write});
            if (write) {
                p.thread(0, thread).store(10 + uint32_t(step), tile[word]);
            } else {
                p.thread(0, thread).load(10 + uint32_t(step), tile[word]);
            }
        }
        REQUIRE(p.races().empty() == !race);
    }
}
