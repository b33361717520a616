// SPDX-License-Identifier: MIT
// Knowledge passed through memory: what a strong write publishes at a location, and what a strong
// read acquires there. Entered only by kernels that use them.
#include <bit>

#include "checks/race/lane_order.h"
#include "checks/report/places.h"
#include "machine/program/mbarrier.h"

namespace checks {

using machine::AccessKind;
using machine::MemoryOrder;

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
            // Stored in this form, since spinning on a lock asks for it repeatedly.
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

// An mbarrier object has a phase: arrivals of an earlier phase are complete, and a waiting thread
// does not acquire early arrivals for the next one.
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

// A strong write adds what the lane can publish to the clock at the location. (A store has cleared
// that clock before; a read-modify-write has not, as in a release sequence.)
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
    // Lane by lane: the last of 32 lanes that increment a counter acquires from the other 31.
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
