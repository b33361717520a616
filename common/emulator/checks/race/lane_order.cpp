// SPDX-License-Identifier: MIT
// Partial syncs, fences, and knowledge passed through memory: the costly part of the relation,
// entered only by kernels that use them.
#include "checks/race/lane_order.h"

#include <algorithm>
#include <bit>

#include "checks/report/places.h"
#include "machine/program/mbarrier.h"

namespace checks {
namespace {

using machine::AccessKind;
using machine::MemoryOrder;
using machine::Scope;

bool block_scope(Scope scope) {
    return scope == Scope::kCta || scope == Scope::kCluster;
}

LaneKnowledge& lanes_of(WarpOrder& warp) {
    if (!warp.lanes) warp.lanes = std::make_unique<LaneKnowledge>();
    return *warp.lanes;
}

const Clock& acquired_by(const WarpOrder& warp, uint32_t lane) {
    const Clock& block = warp.block->acquired;
    return warp.lanes ? warp.lanes->acquired.of(lane, block) : block;
}
const Clock& observed_by(const WarpOrder& warp, uint32_t lane) {
    const Clock& block = warp.block->observed;
    return warp.lanes ? warp.lanes->observed.of(lane, block) : block;
}

// What has happened in the current segment counts as well, if anything has.
Segment after_now(const WarpOrder& warp) {
    return warp.segment + (warp.used ? 1 : 0);
}

}  // namespace

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

// `lane` of `now` reads what `other_lane` stored at `key` in `segment`. So the earlier loads of
// `other_lane` are over, those of its block before its last barrier, and those that it has
// observed.
void HappensBefore::observe(Segment segment, uint32_t other_lane, WarpOrder& now, uint32_t lane,
                            uint64_t address) {
    if (segment < launch_first_) return;
    const uint32_t other = warp_of(segment);
    const auto found = observed_ ? locations_.find(address >> 2) : locations_.end();
    const Clock* more =
        found != locations_.end() && found->second.reads ? &found->second.reads : nullptr;
    const Clock& known = observed_by(now, lane);
    if (known.knows(other, other_lane, segment) && !more) return;
    partial_ = observed_ = true;
    Clock& mine = lanes_of(now).observed.own(lane, now.block->observed);
    const Segment floor = segment_floor_[segment - launch_first_];
    if (floor) mine.raise(other / warps_per_block_ * warps_per_block_, warps_per_block_, floor);
    mine.raise_lanes(other, 1u << other_lane, segment + 1);
    if (more) mine.join(*more);
}

// Stores at the location what the lane has observed, for readers of this write.
void HappensBefore::pass_on(WarpOrder& warp, uint32_t lane, uint64_t key) {
    Clock reads = observed_by(warp, lane);
    reads.join(acquired_by(warp, lane));
    if (!reads) return;
    note_location(key);
    locations_[key].reads.join(reads);
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

Clock HappensBefore::publishable(WarpOrder& warp, uint32_t lane, Reach reach) {
    BlockOrder& b = *warp.block;
    if (warp.lanes) {
        auto& held = warp.lanes->publishable[reach];
        for (Publishable& p : held) {
            if (!(p.holders >> lane & 1)) continue;
            Publishable mine = p;
            if (mine.self_before) mine.facts.push_back({warp.number, 1u << lane, mine.self_before});
            if (mine.warp_floor)
                mine.facts.push_back({warp.number, machine::kAllLanes, mine.warp_floor});
            mine.self_before = mine.warp_floor = 0;
            settle(mine, b);
            mine.holders = 1u << lane;
            // Stored in this form, since spinning on a lock repeats the question.
            const Clock clock = mine.clock;
            warp.lanes->supersede(mine.holders, reach);
            held.push_back(std::move(mine));
            return clock;
        }
    }
    settle(b.publishable[reach], b);
    return b.publishable[reach].clock;
}

void HappensBefore::acquire(WarpOrder& warp, uint32_t lane, uint64_t key, bool relaxed) {
    const auto found = locations_.find(key);
    if (found == locations_.end()) return;
    LaneKnowledge& lanes = lanes_of(warp);
    if (found->second.phase != Location::Phase::kNone) {
        if (!relaxed) lanes.acquired.own(lane, warp.block->acquired).join(found->second.earlier);
        return;
    }
    const Clock& device = found->second.device;
    if (!device && found->second.blocks.empty()) return;
    if (!relaxed) {
        if (device && found->second.blocks.empty() && lanes.last_found[lane].same_as(device))
            return;
        lanes.last_found[lane] = device;
    }
    Clock& mine = relaxed ? lanes.awaiting_fence.own(lane, warp.block->awaiting_fence)
                          : lanes.acquired.own(lane, warp.block->acquired);
    mine.join(device);
    for (const auto& [serial, clock] : found->second.blocks)
        if (serial == warp.block->serial) mine.join(clock);
}

// An mbarrier object is found in a phase: what arrived in another one is complete. Early arrivals
// for the next phase are none of a waiting thread's business.
void HappensBefore::turn_phase(uint64_t key, bool parity) {
    const auto found = locations_.find(key);
    if (found == locations_.end()) return;
    Location& location = found->second;
    const auto phase = parity ? Location::Phase::kOdd : Location::Phase::kEven;
    if (location.phase != Location::Phase::kNone && location.phase != phase) {
        location.earlier.join(location.device);
        for (const auto& [serial, clock] : location.blocks) location.earlier.join(clock);
        location.device = {};
        location.blocks.clear();
    }
    location.phase = phase;
}

// A strong write adds what the lane can publish to what it finds at the location. (A store has
// removed that before; a read-modify-write has not, as in a release sequence.)
bool HappensBefore::publish(WarpOrder& warp, uint32_t lane, uint64_t key, bool block_only) {
    Clock block = publishable(warp, lane, kBlockReach);
    Clock device = publishable(warp, lane, kDeviceReach);
    if (block_only) block.join(device);
    if (block_only) device = {};
    if (!block && !device) return false;
    const bool itself =
        warp.fenced_at &&
        (block_only || !device ? block : device).knows(warp.number, lane, (*warp.fenced_at)[lane]);
    note_location(key);
    const auto [entry, fresh] = locations_.try_emplace(key);
    if (fresh && key >> 63) warp.block->locations.push_back(key);
    Location& location = entry->second;
    location.device.join(device);
    if (!block) return itself;
    for (auto& [serial, clock] : location.blocks)
        if (serial == warp.block->serial) {
            clock.join(block);
            return itself;
        }
    location.blocks.emplace_back(warp.block->serial, std::move(block));
    return itself;
}

void HappensBefore::assume_ordered(Segment segment, uint32_t lane, WarpOrder& now,
                                   uint32_t now_lane) {
    if (segment < launch_first_) return;
    partial_ = true;
    LaneKnowledge& lanes = lanes_of(now);
    lanes.acquired.own(now_lane, now.block->acquired)
        .raise_lanes(warp_of(segment), 1u << lane, segment + 1);
}

uint32_t HappensBefore::on_strong_access(const machine::AccessEvent& event, WarpOrder& w) {
    const bool releases =
        event.order == MemoryOrder::kRelease || event.order == MemoryOrder::kAcqRel;
    const bool writes = event.kind != AccessKind::kLoad;
    const bool reads = event.kind == AccessKind::kLoad || event.kind == AccessKind::kAtomic;
    const bool relaxed =
        event.order == MemoryOrder::kRelaxed || event.order == MemoryOrder::kRelease;
    const bool can_publish = writes && (releases || fenced_);
    const bool shared = event.space == ptx::Space::kShared;
    const bool passes_on = writes && observed_ && !shared;
    if (!can_publish && !passes_on && locations_.empty()) return 0;
    const bool narrow = shared || block_scope(event.scope);
    const bool phased =
        shared && event.bytes == 8 &&
        (event.order == MemoryOrder::kRelease || event.order == MemoryOrder::kAcquire) &&
        opcode_of(event).rfind("mbarrier.", 0) == 0;
    uint32_t published = 0;
    // Lane by lane: the last of 32 lanes that increment a counter knows of the other 31.
    for (uint32_t m = event.mask & ~event.bad_lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const uint64_t first = event.address[lane] >> 2,
                       last = (event.address[lane] + event.bytes - 1) >> 2;
        const uint64_t tag = shared ? uint64_t(1) << 63 | uint64_t(w.block->first_warp) << 30 : 0;
        if (phased)
            if (const std::byte* object = machine::current_bytes(event, lane))
                for (uint64_t word = first; word <= last; ++word)
                    turn_phase(tag | word, machine::mbarrier_parity(object));
        if (reads)
            for (uint64_t word = first; word <= last; ++word)
                if (maybe_location(tag | word)) acquire(w, lane, tag | word, relaxed);
        if (releases && writes) fence(w, 1u << lane, narrow ? kBlockReach : kDeviceReach);
        const bool replaces = event.kind == AccessKind::kStore;
        for (uint64_t word = first; writes && word <= last; ++word) {
            const uint64_t key = tag | word;
            if (replaces && maybe_location(key)) locations_.erase(key);
            if (can_publish && publish(w, lane, key, narrow)) published |= 1u << lane;
            if (passes_on) pass_on(w, lane, key);
        }
    }
    if (releases && writes) next_segment(w);
    return published;
}

}  // namespace checks
