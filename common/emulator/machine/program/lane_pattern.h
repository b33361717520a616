// SPDX-License-Identifier: MIT
// The distances between the addresses of a warp's lanes. Most loads and stores repeat one pattern
// from different starting addresses. The pattern is analysed once; bounds, counters and moves then
// use the result instead of 32 addresses.
#pragma once

#include <cstdint>

#include "machine/events.h"

namespace machine {

struct LanePattern {
    // Lane i's address is lane 0's plus distance[i].
    alignas(64) int32_t distance[kWarpSize] = {};
    uint64_t serial =
        0;  // a new one for each pattern that any instruction has learned; 0: none yet
    int32_t least = 0, greatest = 0;  // of the distances
    uint32_t bits = 0;                // of all distances together
    // The warp consists of groups of so many lanes, each of them at one address (`same`) or side by
    // side. 0: it does not.
    uint32_t group = 0;
    bool same = false;

    // Called when an access of the instruction has another pattern: whether to learn that. Where
    // it hardly ever repeats, only one in so many is learned.
    [[gnu::always_inline]] bool wants_another() {
        if (missed < kPatience) return ++missed;
        left_out = uint8_t((left_out + 1) % kPause);
        return left_out == 0;
    }
    // Finds out the rest from the distances. `bytes`: of a lane.
    void learn(uint32_t bytes);

    static constexpr uint8_t kPatience = 8, kPause = 64;
    uint8_t missed = 0, left_out = 0;  // misses since the last access that repeated the pattern
};

}  // namespace machine
