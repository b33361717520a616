// SPDX-License-Identifier: MIT
// Players with the checker of races, and one whose launches are in several streams.
#pragma once

#include <algorithm>
#include <random>
#include <set>

#include "catch/catch.h"
#include "checks/race/races.h"
#include "event_player.h"

namespace player {

using checks::RaceKinds;

inline void watch_races(Player& p, RaceKinds kinds) {
    p.watch(std::make_unique<checks::Races>(p.report, p.memory, kinds));
}

struct Shared : Player {
    Shared() { watch_races(*this, RaceKinds::kShared); }
};

struct Global : Player {
    Global() { watch_races(*this, RaceKinds::kBoth); }
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

// Streams 1 and 2 wait for the default stream, and 3 does not.
struct Streams : Player {
    Streams() {
        watch_races(*this, RaceKinds::kGlobal);
        order(machine::OrderEvent::Kind::kStreamCreate, 1);
        order(machine::OrderEvent::Kind::kStreamCreate, 2);
        order(machine::OrderEvent::Kind::kStreamCreate, 3, 0, true);
    }
    void write(const ArrayOf& a, uint64_t stream) {
        launch(2, 32, stream);
        warp(1, 0).store(10, a.from(0));
        end_launch();
    }
    void read(const ArrayOf& a, uint64_t stream) {
        launch(2, 32, stream);
        warp(0, 0).load(20, a.from(0));
        end_launch();
    }
};

}  // namespace player
