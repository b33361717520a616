// SPDX-License-Identifier: MIT
// The tree of Clock against a table that says the same lane by lane.
#include <algorithm>
#include <random>
#include <vector>

#include "catch/catch.h"
#include "checks/race/clock.h"

using checks::Clock;
using checks::Segment;

namespace {

constexpr uint32_t kWarps = 70;  // three leaves below one root

struct Modelled {
    Clock clock;
    std::vector<Segment> before = std::vector<Segment>(kWarps * 32, 0);

    void raise(uint32_t first, uint32_t count, Segment segment) {
        clock.raise(first, count, segment);
        for (uint32_t i = first * 32; i < (first + count) * 32; ++i)
            before[i] = std::max(before[i], segment);
    }
    void raise_lanes(uint32_t warp, uint32_t lanes, Segment segment) {
        clock.raise_lanes(warp, lanes, segment);
        for (uint32_t lane = 0; lane < 32; ++lane)
            if (lanes >> lane & 1)
                before[warp * 32 + lane] = std::max(before[warp * 32 + lane], segment);
    }
    void join(const Modelled& other) {
        clock.join(other.clock);
        for (size_t i = 0; i < before.size(); ++i) before[i] = std::max(before[i], other.before[i]);
    }
    // The first lane about which the two do not agree; -1 if there is none.
    int differs() const {
        for (uint32_t i = 0; i < kWarps * 32; ++i) {
            const Segment known = before[i];
            const bool newer = clock.knows(i / 32, i % 32, known);
            const bool older = known == 0 || clock.knows(i / 32, i % 32, known - 1);
            if (newer || !older) return int(i);
        }
        return -1;
    }
};

}  // namespace

TEST_CASE("clock: knows what was set and what it joined, lane by lane", "[checks][race]") {
    std::mt19937 random(GENERATE(1u, 2u, 3u, 4u));
    const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
    Modelled clocks[4];
    Segment now = 1;
    for (int step = 0; step < 1500; ++step) {
        Modelled& mine = clocks[below(4)];
        const uint32_t warp = below(kWarps);
        switch (below(8)) {
        case 0:
            mine.raise(
                warp, 1 + below(std::min(40u, kWarps - warp)), now - below(std::min(now, 20u)));
            break;
        case 1:
            mine = clocks[below(4)];
            break;
        case 2:
        case 3:
            mine.join(clocks[below(4)]);
            break;
        default:
            mine.raise_lanes(warp,
                             below(2) ? 1u << below(32) : uint32_t(random()),
                             now - below(std::min(now, 20u)));
        }
        now += below(3);
        if (step % 50 == 0)
            for (const Modelled& each : clocks) REQUIRE(each.differs() == -1);
    }
}

TEST_CASE("clock: joining what is known already gives the same tree", "[checks][race]") {
    Clock a, b;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        a.raise_lanes(3, 1u << lane, 100 + lane);
        if (lane % 2) b.raise_lanes(3, 1u << lane, 90 + lane);
    }
    const Clock before = a;
    a.join(b);
    CHECK(a.same_as(before));
    b.join(a);
    CHECK(b.knows(3, 4, 103));
    CHECK(!b.knows(3, 4, 104));
}

TEST_CASE("clock: what is known of each lane is known of the warp", "[checks][race]") {
    Clock clock;
    clock.raise_lanes(40, 0x0000ffff, 12);
    CHECK(!clock.knows_warp(40, 11));
    clock.raise_lanes(40, 0xffff0000, 15);
    CHECK(clock.knows_warp(40, 11));
    CHECK(!clock.knows_warp(40, 12));
    CHECK(clock.knows(40, 31, 14));
}
