// SPDX-License-Identifier: MIT
// Loads that enter the race checkers' shadow late, or not at all: what is found must not depend on
// it.
#include "checks/race/shadow.h"
#include "race_players.h"

using namespace player;
using checks::DeferredReads;

namespace {

// Shadows that are made while it lives enter every load at once.
struct Eager {
    Eager() { checks::Shadow::limit_deferred(0); }
    ~Eager() { checks::Shadow::limit_deferred(~uint64_t(0)); }
};

// What a report says, in order, but for the number of further pairs: of a word's readers the shadow
// keeps two, and which two may depend on what it knew of the word before the last barrier.
std::vector<std::string> told(const Player& p) {
    std::vector<std::string> all;
    for (const checks::Finding& f : p.report.findings()) {
        all.push_back(f.code + ": " + f.message + ", line " + std::to_string(f.place.line) + ", " +
                      f.other_text);
        if (f.place.thread) all.back() += ", lane " + std::to_string(f.place.thread->x);
        if (f.place.block) all.back() += " of block " + std::to_string(f.place.block->x);
    }
    return all;
}

// A few blocks do anything, mostly loads, to two small arrays.
std::vector<std::string> play(uint64_t seed, bool global, bool streams, bool patterns) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
    Global p;
    if (patterns) p.follow_patterns();
    const ArrayOf arrays[] = {global ? p.global(256) : p.shared(256),
                              global ? p.global(256) : p.shared(256)};
    if (streams && below(2)) p.order(machine::OrderEvent::Kind::kStreamCreate, 7, 0, true);
    const uint32_t launches = 1 + below(3), blocks = 1 + below(2), warps = 1 + below(3);
    for (uint32_t k = 0; k < launches; ++k) {
        p.launch(blocks, warps * 32, streams && below(2) ? 7 : 0);
        for (uint32_t step = 0; step < 30; ++step) {
            const uint32_t block = below(blocks), warp = below(warps), line = 10 + below(12);
            const uint32_t mask = below(4) ? machine::kAllLanes : uint32_t(random());
            const ArrayOf& a = arrays[below(2)];
            const int64_t start = below(8) * 8, stride = below(3) ? 1 : below(3);
            Lanes lanes = p.warp(block, warp, mask ? mask : 1);
            Addresses at = a.from(start, stride);
            if (below(4) == 0)
                at = [a, start](uint32_t lane) { return a[start + lane / 16 * 16 + lane % 8]; };
            switch (below(12)) {
            case 0:
                p.barrier(block);
                break;
            case 1:
                lanes.store(line, at);
                break;
            case 2:
                if (below(3) == 0)
                    lanes.atomic(line, at);
                else
                    p.warp(block, warp).sync();
                break;
            case 3:
                if (below(4) == 0) {
                    lanes.fence();
                    lanes.access(line, below(2) ? kVolatileLoad : kRelaxedStore, at);
                } else if (below(4) == 0) {
                    lanes.sync();
                }
                break;
            case 4:
                if (below(8) == 0) p.next_block(block);
                break;
            default:
                lanes.load(line, at);
            }
        }
        p.end_launch();
        if (!global || !streams) continue;
        if (below(2))
            p.copy(30 + below(4),
                   "cudaMemcpyAsync",
                   below(2) ? machine::HostAccess::Kind::kWrite : machine::HostAccess::Kind::kRead,
                   arrays[below(2)],
                   1 + below(256),
                   below(2) ? 7 : 0);
        if (below(4) == 0) p.order(machine::OrderEvent::Kind::kDeviceSync);
    }
    return told(p);
}

}  // namespace

TEST_CASE("deferred reads: findings are those of loads that enter at once",
          "[checks][race][deferred][slow]") {
    const bool global = GENERATE(false, true), streams = GENERATE(false, true);
    constexpr uint64_t kPrograms = 1000;
    size_t races = 0, differ = 0;
    for (uint64_t seed = 0; seed < kPrograms; ++seed) {
        const auto now = play(seed, global, streams, seed % 2);
        std::vector<std::string> wanted;
        {
            const Eager eager;
            wanted = play(seed, global, streams, false);
        }
        races += wanted.size();
        CAPTURE(seed, global, streams);
        REQUIRE(now.empty() == wanted.empty());
        differ += now != wanted;
    }
    CHECK(races > 500);
    // Loads of shared memory that are dropped leave no trace, those that entered one. Among dozens
    // of races, another one of several readers may be the one that the shadow still knows of.
    if (global)
        CHECK(differ == 0);
    else
        CHECK(differ < kPrograms / 50);
}

TEST_CASE("deferred reads: a list that is full", "[checks][race][deferred]") {
    const auto found = [](uint64_t limit) {
        checks::Shadow::limit_deferred(limit);
        Shared p;
        const auto tile = p.shared(128);
        p.launch(1, 64);
        for (int k = 0; k < 6; ++k) p.warp(0, 0).load(10 + uint32_t(k), tile.from(k));
        p.warp(0, 1).store(20, tile.from(0));
        checks::Shadow::limit_deferred(~uint64_t(0));
        return p.races();
    };
    CHECK(found(0).size() > 1);
    CHECK(found(100) == found(0));
    CHECK(found(~uint64_t(0)) == found(0));
    // The list itself says when it is full, and keeps what it has.
    DeferredReads reads(100);
    reads.begin(5, true, 2);
    const uint64_t address[32] = {};
    int added = 0;
    while (added < 10 && reads.add({9, 1, 2, 3, 4, 77, 1, 4, 32, false}, address, 0)) ++added;
    CHECK(added == 2);
}

TEST_CASE("deferred reads: a launch of another stream comes to know of those before",
          "[checks][race][deferred]") {
    // The first launch is the only one when it loads; two of its blocks read each word.
    Global p;
    const auto x = p.global(64), y = p.global(64);
    p.launch(2, 64);
    for (uint32_t b = 0; b < 2; ++b) {
        for (uint32_t w = 0; w < 2; ++w) p.warp(b, w).load(10 + b, x.from(32 * (1 - w)));
        p.warp(b, 0).load(12, y.from(0));
    }
    p.end_launch();
    const bool waits = GENERATE(false, true);
    if (waits) p.order(machine::OrderEvent::Kind::kDeviceSync);
    p.order(machine::OrderEvent::Kind::kStreamCreate, 7, 0, true);
    SECTION("by a kernel") {
        p.launch(1, 32, 7);
        p.warp(0, 0).load(18, y.from(0));
        p.warp(0, 0).store(20, x.from(0));
        CHECK(p.races() == (waits ? Lines{} : Lines{"20 after 11"}));
    }
    SECTION("by a copy") {
        p.copy(30, "cudaMemcpyAsync", machine::HostAccess::Kind::kWrite, x, 64, 7);
        CHECK(p.races().size() == (waits ? 0 : 1));
    }
}

TEST_CASE("deferred reads: a list gives back what was added", "[checks][race][deferred]") {
    DeferredReads reads(1 << 20);
    reads.begin(5, true, 2);
    const auto add = [&](checks::Segment segment, uint32_t group, bool same, auto&& address) {
        uint64_t at[32];
        for (uint32_t i = 0; i < 32; ++i) at[i] = address(i);
        return reads.add({segment, 1, 2, 3, 4, 77, 0xff, 4, uint8_t(group), same}, at, 100);
    };
    const auto scattered = [](uint32_t i) -> uint64_t { return i * i * 4; };
    const auto rows = [](uint32_t i) -> uint64_t { return i / 16 * 1000 + i % 16 * 4; };
    const auto spread = [](uint32_t i) -> uint64_t { return i / 8 * 64; };
    const auto in_order = [](uint32_t i) -> uint64_t { return i * 4; };
    REQUIRE(add(9, 1, false, scattered));
    REQUIRE(add(7, 16, false, rows));
    REQUIRE(add(8, 8, true, spread));
    REQUIRE(add(6, 32, false, in_order));
    CHECK(reads.newest() == 9);
    const std::vector<std::function<uint64_t(uint32_t)>> wanted = {
        scattered, rows, spread, in_order};
    size_t k = 0;
    reads.each([&](const DeferredReads::Load& load, const uint64_t* offset) {
        CHECK(load.id == 77);
        CHECK(load.lanes == 0xff);
        CHECK(load.bytes == 4);
        for (uint32_t i = 0; i < 32; ++i) CHECK(offset[i] == wanted[k](i) + 100);
        ++k;
    });
    CHECK(k == 4);
    reads.clear();
    CHECK(reads.empty());
    CHECK(reads.newest() == 0);
}

TEST_CASE("deferred reads: a warp that begins before its array", "[checks][race][deferred]") {
    DeferredReads reads(1 << 20);
    reads.begin(5, true, 2);
    constexpr uint64_t kBase = 4096;
    uint64_t address[32];
    for (uint32_t i = 0; i < 32; ++i) address[i] = kBase - 4 + i * 4;
    REQUIRE(reads.add({9, 1, 2, 3, 4, 77, ~1u, 4, 32, false}, address, 0 - kBase));
    reads.each([&](const DeferredReads::Load&, const uint64_t* offset) {
        for (uint32_t i = 1; i < 32; ++i) CHECK(offset[i] == (i - 1) * 4);
    });
}
