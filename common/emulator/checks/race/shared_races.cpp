// SPDX-License-Identifier: MIT
#include "checks/race/shared_races.h"

#include <bit>

namespace checks {

using machine::AccessEvent;

void SharedRaces::begin_launch() {
    blocks_.clear();  // of a launch that was aborted
    copies_.clear();
    met_.clear();
    last_ = nullptr;
}

// The shadow lies in the order of the compact layout, so one suffices for all variables.
Shadow& SharedRaces::shadow_of(const machine::BlockInfo& block) {
    auto& mine = blocks_[block.serial];
    if (!mine) {
        const uint64_t bytes = block.launch->shared_bytes;
        while (!spare_.empty() && !mine) {
            if (spare_.back()->bytes() >= bytes) mine = std::move(spare_.back());
            spare_.pop_back();
        }
        if (!mine) mine = std::make_unique<Shadow>(bytes);
    }
    last_ = mine.get();
    last_serial_ = block.serial;
    return *last_;
}

void SharedRaces::end_block(const machine::BlockInfo& block) {
    copies_.end_block(block.serial);
    const auto found = blocks_.find(block.serial);
    if (found == blocks_.end()) return;
    found->second->wipe(block.launch->shared_bytes);
    spare_.push_back(std::move(found->second));
    blocks_.erase(found);
    if (last_serial_ == block.serial) last_ = nullptr;
}

void SharedRaces::access(const AccessEvent& event, uint32_t published) {
    if (!copies_.empty()) compare_with_copies(event);
    enter(event, published);
}

uint64_t SharedRaces::foresee(const AccessEvent& next, int64_t step, uint64_t most) {
    if (!copies_.empty()) return 0;
    return detector_.undisputed(next,
                                step,
                                most,
                                nullptr,
                                shadow(*next.warp->block),
                                next.variable->offset - next.variable->address);
}

void SharedRaces::access_run(const AccessEvent& first, int64_t step, uint64_t count) {
    detector_.run(first,
                  step,
                  count,
                  nullptr,
                  shadow(*first.warp->block),
                  first.variable->offset - first.variable->address);
}

// Only its wait orders the write of a copy in progress: before that, even its own thread must not
// access those bytes.
void SharedRaces::compare_with_copies(const AccessEvent& event) {
    copies_.overlaps(event, [&](uint32_t lane, uint64_t address, const AsyncShadow::Copy& copy) {
        Race race;
        race.event = &event;
        race.lane = lane;
        race.address = address;
        race.other_segment = copy.segment;
        race.other_lane = copy.lane;
        race.other_site = copy.site;
        race.other = {true, false, true, false, false};
        race.under_way = true;
        report_.add(describe_race("race-shared", order_, race, 1));
        met_.insert(copy.site);
    });
}

void SharedRaces::async_copy(const machine::AsyncCopyEvent& copy) {
    const AccessEvent& store = *copy.store;
    if (copy.kind == machine::AsyncCopyEvent::Kind::kStarted) {
        copies_.start(store, order_.warp(*store.warp).segment);
        return;
    }
    copies_.complete(store);
    // The store takes place now. Copies that were reported already are not reported again.
    if (!met_.contains(store.site)) enter(store, 0);
}

void SharedRaces::enter(const AccessEvent& event, uint32_t published) {
    const uint32_t lanes = event.mask & ~event.bad_lanes;
    if (!lanes) return;
    Shadow& memory = shadow(*event.warp->block);
    if (event.variable) {
        detector_.access(event,
                         lanes,
                         published,
                         nullptr,
                         memory,
                         event.variable->offset - event.variable->address);
        return;
    }
    // Lanes in several variables, or some of them out of range.
    for (uint32_t left = lanes; left;) {
        const auto variable_of = [&](uint32_t lane) {
            return machine::shared_variable_at(*event.warp->block->launch, event.address[lane]);
        };
        const auto* variable = variable_of(uint32_t(std::countr_zero(left)));
        uint32_t together = 0;
        for (uint32_t m = left; m; m &= m - 1) {
            const uint32_t lane = uint32_t(std::countr_zero(m));
            if (variable_of(lane) == variable) together |= 1u << lane;
        }
        left &= ~together;
        if (variable)
            detector_.access(
                event, together, published, nullptr, memory, variable->offset - variable->address);
    }
}

}  // namespace checks
