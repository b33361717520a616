// SPDX-License-Identifier: MIT
// Players with one race checker, or with both.
#pragma once

#include <algorithm>
#include <random>
#include <set>

#include "catch.h"
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

}  // namespace player
