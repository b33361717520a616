// SPDX-License-Identifier: MIT
// The state of one access while the race detector looks at it; shared by the parts of RaceDetector.
#pragma once

#include "checks/race_common.h"

namespace checks {

constexpr uint32_t kNobody = 32;  // as a lane

struct RaceDetector::Context {
    const machine::AccessEvent& event;
    WarpOrder& warp;
    Shadow& shadow;
    uint64_t shift;
    const machine::Allocation* allocation;
    Role role = Role::kLoad;
    bool partial = false;  // lanes may know more than the floors say
    uint32_t published = 0;
    Segment segment = 0;
    Entry floor = 0;  // entries below are ordered before every thread
    Entry block_first =
        0;                // entries below are of blocks that began before this one, or of no block
    uint64_t offset = 0;  // of the sector at hand
    uint32_t races = 0;   // used entries of found_
};

}  // namespace checks
