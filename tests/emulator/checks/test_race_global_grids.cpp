// SPDX-License-Identifier: MIT
// Races in global memory: grid-wide syncs, look-back scans, many blocks at a time.
#include "race_players.h"

using namespace player;

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
        p.warp(t, 1).access(10, stores ? player::kStore : player::kLoad, x.from(32 * t));
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
    // No store came before: the load is reported.
    const char* const late = stores ? "14 after 13" : "13 after 14";
    CHECK(std::count(races.begin(), races.end(), late) == loads_late);
    CHECK(std::count(races.begin(), races.end(), "14 after 10") == stores);
    CHECK(races.size() == size_t(loads_late) + size_t(stores));
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
