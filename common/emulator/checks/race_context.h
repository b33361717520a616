// SPDX-License-Identifier: MIT
// The state of one access while the race detector looks at it, and its innermost functions; shared
// by the parts of RaceDetector.
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
    machine::SiteId id = 0;  // of the instruction, see identify()
    Segment segment = 0;
    Entry floor = 0;  // entries below are ordered before every thread
    Entry block_first =
        0;  // entries below are of blocks that began before this one, or of no block
    Entry block_floor = 0;  // entries of this block below are ordered before all of its threads
    uint64_t offset = 0;    // of the sector at hand
    Segment ordered_writer = ~Segment(0);  // one that is known to be ordered before the warp
    uint32_t races = 0;                    // used entries of found_
};

// The usual cases of remember_more(); false when it is none of them.
inline bool RaceDetector::remember_quickly(const Context& c, Pair& pair, Entry mine) const {
    if (pair.first < c.floor) {
        pair.first = mine;
        if (pair.second < c.floor) pair.second = 0;
        return true;
    }
    if ((pair.first ^ mine) < 1024) {  // the same instruction in the same segment
        if (second_lane_of(pair.first) == lane_of(pair.first) &&
            lane_of(pair.first) != lane_of(mine))
            pair.first = with_second_lane(pair.first, lane_of(mine));
        return true;
    }
    if (c.partial || pair.second < c.floor) return false;
    if (pair.second < c.block_first) {
        pair.first = mine;  // and the second, of another block, stays
        return true;
    }
    // Two warps of this block since its last barrier: a third adds nothing.
    if (pair.second < c.block_floor) return false;
    const uint32_t first = order_.warp_of(segment_of(pair.first));
    const uint32_t second = order_.warp_of(segment_of(pair.second));
    return first != second && order_.same_block(first, c.warp) && order_.same_block(second, c.warp);
}

inline void RaceDetector::remember(Context& c, Sector& s, Pair& pair, Entry mine, uint32_t byte,
                                   Sector::Flag more) {
    if (!remember_quickly(c, pair, mine)) remember_more(c, s, pair, mine, byte, more);
}

// A strong load conflicts with less than a plain one, so it never takes a plain one's place.
inline void RaceDetector::remember_read(Context& c, Sector& s, Pair& pair, Entry mine,
                                        uint32_t byte) {
    if (c.role == Role::kStrongLoad && pair.first >= c.floor && !strong(pair.first)) {
        if (pair.second < c.floor || strong(pair.second)) {
            pair.second = mine;
        } else if (c.partial) {
            spill(c, s, byte, false, mine, Sector::kMoreReaders);
        }
        return;
    }
    remember(c, s, pair, mine, byte, Sector::kMoreReaders);
}

}  // namespace checks
