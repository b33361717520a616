// SPDX-License-Identifier: MIT
// What the shadow remembers of an access: which entries stay, and which a newer one replaces.
#pragma once

#include "checks/race/context.h"

namespace checks {

// Adds an entry that a pair has no room for to the side table. `pattern`: of the whole sector.
void spill(const AccessContext& c, Sector& s, uint32_t byte, bool pattern, Epoch e,
           Sector::Flag more);
// Whether all entries of the side table are ordered before a plain access to the whole sector. If
// so, a store removes them.
bool spilled_ordered(const AccessContext& c, Sector& s, Epoch mine, Sector::Flag more);

// Enters `mine` into a pair of readers or strong writers; `more` names the side table for them.
void remember_more(const AccessContext& c, Sector& s, Pair& pair, Epoch mine, uint32_t byte,
                   Sector::Flag more);
// Enters a load by a whole warp that is ordered after all writers of the sector. False: the sector
// needs cells first.
bool remember_pattern(const AccessContext& c, Sector& s, Epoch mine);

// The usual cases of remember_more(); false when it is none of them.
[[gnu::always_inline]] inline bool remember_quickly(const AccessContext& c, Pair& pair,
                                                    Epoch mine) {
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
    if (c.partial) return false;
    if (pair.second < c.floor) {
        if (pair.first < c.block_floor) return false;
        // Another warp of this block, since its last barrier: both stay.
        const uint32_t first = c.order.warp_of(segment_of(pair.first));
        if (first == c.warp.number || !c.order.same_block(first, c.warp)) return false;
        pair.second = pair.first;
        pair.first = mine;
        return true;
    }
    if (pair.second < c.block_first) {
        pair.first = mine;  // and the second, of another block, stays
        return true;
    }
    // Two warps of this block since its last barrier: a third adds nothing.
    if (pair.second < c.block_floor) return false;
    const uint32_t first = c.order.warp_of(segment_of(pair.first));
    const uint32_t second = c.order.warp_of(segment_of(pair.second));
    return first != second && c.order.same_block(first, c.warp) &&
           c.order.same_block(second, c.warp);
}

inline void remember(const AccessContext& c, Sector& s, Pair& pair, Epoch mine, uint32_t byte,
                     Sector::Flag more) {
    if (!remember_quickly(c, pair, mine)) remember_more(c, s, pair, mine, byte, more);
}

// A strong load conflicts with less than a plain one, so it never takes a plain one's place.
inline void remember_read(const AccessContext& c, Sector& s, Pair& pair, Epoch mine,
                          uint32_t byte) {
    if (c.role == AccessRole::kStrongLoad && pair.first >= c.floor &&
        !c.instructions.strong(pair.first)) {
        if (pair.second < c.floor || c.instructions.strong(pair.second)) {
            pair.second = mine;
        } else if (c.partial) {
            spill(c, s, byte, false, mine, Sector::kMoreReaders);
        }
        return;
    }
    remember(c, s, pair, mine, byte, Sector::kMoreReaders);
}

}  // namespace checks
