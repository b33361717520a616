// SPDX-License-Identifier: MIT
// Players with one race checker, or with both, and one whose launches are in several streams.
#pragma once

#include <algorithm>
#include <random>
#include <set>

#include "catch/catch.h"
#include "checks/race/race_global.h"
#include "checks/race/race_shared.h"
#include "event_player.h"

namespace player {

struct Shared : Player {
    Shared() { watch(checks::make_race_shared(report, memory)); }
};

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

// Streams 1 and 2 wait for the default stream, and 3 does not.
struct Streams : Player {
    Streams() {
        watch(checks::make_race_global(report, memory));
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
