// SPDX-License-Identifier: MIT
// What single lanes of a warp know beyond its floors: after syncs of some of its lanes, strong
// reads that acquired something, and fences. Part of HappensBefore; most warps never need it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "checks/race/happens_before.h"

namespace checks {

// A clock for each of some lanes; the others have their block's.
struct LaneClocks {
    uint32_t lanes = 0;
    std::array<Clock, machine::kWarpSize> clock;

    const Clock& of(uint32_t lane, const Clock& block) const {
        return lanes >> lane & 1 ? clock[lane] : block;
    }
    // To change: starts as the block's.
    Clock& own(uint32_t lane, const Clock& block) {
        if (!(lanes >> lane & 1)) clock[lane] = block;
        lanes |= 1u << lane;
        return clock[lane];
    }
    void set(uint32_t mask, const Clock& value) {
        for (uint32_t m = mask; m; m &= m - 1) clock[uint32_t(std::countr_zero(m))] = value;
        lanes |= mask;
    }
    void join_into(Clock& into, uint32_t mask) const {
        for (uint32_t m = mask & lanes; m; m &= m - 1)
            into.join(clock[uint32_t(std::countr_zero(m))]);
    }
    // All of `mask` know what each of them does.
    void share(uint32_t mask, const Clock& block) {
        if (!(lanes & mask)) return;
        Clock all = block;
        join_into(all, mask);
        set(mask, all);
    }
};

struct LaneKnowledge {
    using Row = std::array<Segment, machine::kWarpSize>;

    // [t][u]: lane t knows what lane u did in segments below. Null: the warp's floor says it all.
    std::unique_ptr<std::array<Row, machine::kWarpSize>> matrix;
    std::vector<uint32_t> synced;  // masks that synced since something was last accessed

    LaneClocks acquired;  // beyond what the block acquired
    LaneClocks observed;  // and observed
    LaneClocks awaiting_fence;
    // What each lane found at the last location that it acquired. Polling finds the same again and
    // again, and what a lane knows only grows.
    std::array<Clock, machine::kWarpSize> last_found;

    // Holders of the entries of one reach are disjoint; a lane that holds none has the block's.
    std::array<std::vector<Publishable>, kReaches> publishable;

    // What lanes of `mask` can publish, as facts about warp `number`.
    void add_publishable(Publishable& into, uint32_t number, uint32_t mask, Reach reach) const {
        for (const Publishable& p : publishable[reach]) {
            if (!(p.holders & mask)) continue;
            into.clock.join(p.clock);
            into.block_floor = std::max(into.block_floor, p.block_floor);
            if (p.self_before) into.facts.push_back({number, p.holders & mask, p.self_before});
            if (p.warp_floor) into.facts.push_back({number, machine::kAllLanes, p.warp_floor});
            into.facts.insert(into.facts.end(), p.facts.begin(), p.facts.end());
        }
    }
    // Takes `mask` off the holders of what they had; newer knowledge includes it.
    void supersede(uint32_t mask, Reach reach) {
        for (Publishable& p : publishable[reach]) p.holders &= ~mask;
        std::erase_if(publishable[reach], [](const Publishable& p) { return p.holders == 0; });
    }
};

inline bool block_scope(machine::Scope scope) {
    return scope == machine::Scope::kCta || scope == machine::Scope::kCluster;
}

inline LaneKnowledge& lanes_of(WarpOrder& warp) {
    if (!warp.lanes) warp.lanes = std::make_unique<LaneKnowledge>();
    return *warp.lanes;
}

inline const Clock& acquired_by(const WarpOrder& warp, uint32_t lane) {
    const Clock& block = warp.block->acquired;
    return warp.lanes ? warp.lanes->acquired.of(lane, block) : block;
}
inline const Clock& observed_by(const WarpOrder& warp, uint32_t lane) {
    const Clock& block = warp.block->observed;
    return warp.lanes ? warp.lanes->observed.of(lane, block) : block;
}

// What has happened in the current segment counts as well, if anything has.
inline Segment after_now(const WarpOrder& warp) {
    return warp.segment + (warp.used ? 1 : 0);
}

}  // namespace checks
