// SPDX-License-Identifier: MIT
// Partial syncs and fences: a costly part of the relation, entered only by kernels that use them.
#include "checks/race/lane_order.h"

#include <algorithm>
#include <bit>

namespace checks {
bool HappensBefore::knows(uint32_t other, Segment segment, uint32_t lane, const WarpOrder& now,
                          uint32_t now_lane) const {
    if (other == now.number && now.lanes && now.lanes->matrix &&
        segment < (*now.lanes->matrix)[now_lane][lane])
        return true;
    return acquired_by(now, now_lane).knows(other, lane, segment);
}

// What all lanes of the warp are certain to have acquired.
const Clock& HappensBefore::shared_clock(const WarpOrder& warp) const {
    const Clock& block = warp.block->acquired;
    if (!warp.lanes || warp.lanes->acquired.lanes != machine::kAllLanes) return block;
    const auto& clock = warp.lanes->acquired.clock;
    for (uint32_t lane = 1; lane < machine::kWarpSize; ++lane)
        if (!clock[lane].same_as(clock[0])) return block;
    return clock[0];
}

bool HappensBefore::observed(uint32_t other, Segment segment, uint32_t lane, const WarpOrder& now,
                             uint32_t now_lane) const {
    return observed_by(now, now_lane).knows(other, lane, segment);
}

// Everything that any lane of `mask` knows.
void HappensBefore::add_knowledge(Clock& clock, const WarpOrder& warp, uint32_t mask) const {
    const BlockOrder& b = *warp.block;
    if (warp.lanes) warp.lanes->acquired.join_into(clock, mask);
    clock.join(b.acquired);
    if (b.floor > b.first_segment) clock.raise(b.first_warp, warps_per_block_, b.floor);
    clock.raise(warp.number, 1, warp.floor);
    if (warp.lanes && warp.lanes->matrix) {
        for (uint32_t m = mask; m; m &= m - 1) {
            const auto& row = (*warp.lanes->matrix)[uint32_t(std::countr_zero(m))];
            for (uint32_t u = 0; u < machine::kWarpSize; ++u)
                if (row[u] > warp.floor) clock.raise_lanes(warp.number, 1u << u, row[u]);
        }
    }
    clock.raise_lanes(warp.number, mask, after_now(warp));
}

// Folds floors and facts of what all threads of a block hold into its clock.
void HappensBefore::settle(Publishable& p, const BlockOrder& b) const {
    if (p.block_floor > b.first_segment)
        p.clock.raise(b.first_warp, warps_per_block_, p.block_floor);
    for (const Publishable::Fact& f : p.facts) {
        if (f.lanes == machine::kAllLanes) {
            p.clock.raise(f.warp, 1, f.before);
        } else {
            p.clock.raise_lanes(f.warp, f.lanes, f.before);
        }
    }
    p.facts.clear();
    p.block_floor = 0;
}

void HappensBefore::partial_barrier(BlockOrder& b, const machine::BarrierEvent& event) {
    partial_ = true;
    Clock known, observed = b.observed, awaiting = b.awaiting_fence;
    std::array<Publishable, kReaches> publishable;
    for (const machine::Arrival& a : event.arrivals) {
        const WarpOrder& warp = b.warps[a.warp];
        add_knowledge(known, warp, a.mask);
        if (!warp.lanes) continue;
        warp.lanes->observed.join_into(observed, a.mask);
        warp.lanes->awaiting_fence.join_into(awaiting, a.mask);
        for (uint32_t r = 0; r < kReaches; ++r)
            warp.lanes->add_publishable(publishable[r], warp.number, a.mask, Reach(r));
    }
    for (uint32_t r = 0; r < kReaches; ++r) {
        if (publishable[r].empty()) continue;
        settle(b.publishable[r], b);
        publishable[r].clock.join(b.publishable[r].clock);
        settle(publishable[r], b);
    }
    for (const machine::Arrival& a : event.arrivals) {
        WarpOrder& warp = b.warps[a.warp];
        next_segment(warp);
        if (a.arrive_only) continue;
        LaneKnowledge& lanes = lanes_of(warp);
        lanes.acquired.set(a.mask, known);
        if (observed) lanes.observed.set(a.mask, observed);
        if (awaiting) lanes.awaiting_fence.set(a.mask, awaiting);
        for (uint32_t r = 0; r < kReaches; ++r) {
            if (publishable[r].empty()) continue;
            lanes.supersede(a.mask, Reach(r));
            lanes.publishable[r].push_back(publishable[r]);
            lanes.publishable[r].back().holders = a.mask;
        }
    }
}

void HappensBefore::on_warp_sync(const machine::WarpSyncEvent& event) {
    const uint32_t mask = event.arrived;
    if (std::popcount(mask) < 2) return;
    WarpOrder& w = warp(*event.warp);
    const bool whole = (event.warp->valid & ~(mask | event.warp->exited)) == 0;
    if (whole) {
        if (w.lanes) sync_lanes(w, mask);
        next_segment(w);
        w.floor = w.segment;
        if (w.lanes) {
            w.lanes->matrix.reset();
            w.lanes->synced.clear();
        }
        return;
    }
    partial_ = true;
    LaneKnowledge& lanes = lanes_of(w);
    if (std::find(lanes.synced.begin(), lanes.synced.end(), mask) != lanes.synced.end() && !w.used)
        return;
    sync_lanes(w, mask);
    sync_matrix(w, mask);
    next_segment(w);
    lanes.synced.push_back(mask);
}

void HappensBefore::sync_matrix(WarpOrder& warp, uint32_t mask) {
    auto& matrix = warp.lanes->matrix;
    if (!matrix) {
        matrix = std::make_unique<std::array<LaneKnowledge::Row, machine::kWarpSize>>();
        for (auto& row : *matrix) row.fill(warp.floor);
    }
    LaneKnowledge::Row together{};
    for (uint32_t m = mask; m; m &= m - 1) {
        const auto& row = (*matrix)[uint32_t(std::countr_zero(m))];
        for (uint32_t u = 0; u < machine::kWarpSize; ++u)
            together[u] = std::max(together[u], row[u]);
    }
    const Segment now = after_now(warp);
    for (uint32_t u = 0; u < machine::kWarpSize; ++u)
        if (mask >> u & 1) together[u] = std::max(together[u], now);
    for (uint32_t m = mask; m; m &= m - 1) (*matrix)[uint32_t(std::countr_zero(m))] = together;
}

// All of the lanes now share what each of them has acquired or can publish.
void HappensBefore::sync_lanes(WarpOrder& warp, uint32_t mask) {
    LaneKnowledge& lanes = *warp.lanes;
    lanes.acquired.share(mask, warp.block->acquired);
    lanes.observed.share(mask, warp.block->observed);
    lanes.awaiting_fence.share(mask, warp.block->awaiting_fence);
    for (uint32_t r = 0; r < kReaches; ++r) {
        Publishable all;
        lanes.add_publishable(all, warp.number, mask, Reach(r));
        if (all.empty()) continue;
        if (all.facts.size() > 64) settle(all, *warp.block);
        all.holders = mask;
        lanes.supersede(mask, Reach(r));
        lanes.publishable[r].push_back(std::move(all));
    }
}

void HappensBefore::on_fence(const machine::FenceEvent& event) {
    WarpOrder& w = warp(*event.warp);
    for (uint32_t m = event.mask; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const Clock& found = w.lanes ? w.lanes->awaiting_fence.of(lane, w.block->awaiting_fence)
                                     : w.block->awaiting_fence;
        if (found) lanes_of(w).acquired.own(lane, w.block->acquired).join(found);
    }
    fence(w, event.mask, block_scope(event.scope) ? kBlockReach : kDeviceReach);
    next_segment(w);
}

// What the lanes know now becomes publishable. The caller starts a new segment afterwards.
void HappensBefore::fence(WarpOrder& warp, uint32_t mask, Reach reach) {
    fenced_ = partial_ = true;
    warp.used = true;  // the segment ends here even if it is empty
    LaneKnowledge& lanes = lanes_of(warp);
    if (!warp.fenced_at) warp.fenced_at = std::make_unique<LaneKnowledge::Row>();
    for (uint32_t m = mask; m; m &= m - 1)
        (*warp.fenced_at)[uint32_t(std::countr_zero(m))] = warp.segment;
    for (uint32_t r = 0; r <= uint32_t(reach); ++r) lanes.supersede(mask, Reach(r));
    Publishable made;
    made.self_before = after_now(warp);
    made.warp_floor = warp.floor;
    made.block_floor = warp.block->floor;
    while (mask) {
        // Lanes that know the same share one entry.
        const uint32_t first = uint32_t(std::countr_zero(mask));
        made.clock = acquired_by(warp, first);
        made.holders = 0;
        for (uint32_t m = mask; m; m &= m - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(m));
            if (acquired_by(warp, lane).same_as(made.clock)) made.holders |= 1u << lane;
            if (lanes.matrix) break;
        }
        mask &= ~made.holders;
        made.facts.clear();
        if (lanes.matrix) {
            const auto& row = (*lanes.matrix)[first];
            for (uint32_t u = 0; u < machine::kWarpSize; ++u)
                if (row[u] > warp.floor) made.facts.push_back({warp.number, 1u << u, row[u]});
        }
        lanes.publishable[reach].push_back(made);
    }
}

void HappensBefore::assume_ordered(Segment segment, uint32_t lane, WarpOrder& now,
                                   uint32_t now_lane) {
    if (segment < launch_first_) return;
    partial_ = true;
    LaneKnowledge& lanes = lanes_of(now);
    lanes.acquired.own(now_lane, now.block->acquired)
        .raise_lanes(warp_of(segment), 1u << lane, segment + 1);
}

}  // namespace checks
