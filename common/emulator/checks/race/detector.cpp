// SPDX-License-Identifier: MIT
#include "checks/race/detector.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;

namespace {

// The lanes of a compare-and-swap that may store: they expect what memory holds, or another lane of
// the instruction may have changed it before their turn.
uint32_t lanes_that_swap(const AccessContext& c, uint32_t lanes) {
    const AccessEvent& event = c.event;
    uint32_t swap = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const std::byte* now = held_at(c, event.address[lane], lane);
        bool may = !now || !event.operand ||
                   std::memcmp(now, event.operand + lane * event.operand_stride, event.bytes) == 0;
        for (uint32_t k = swap; k && !may; k &= k - 1)
            may = event.address[std::countr_zero(k)] == event.address[lane];
        if (may) swap |= 1u << lane;
    }
    return swap;
}

}  // namespace

RaceDetector::RaceDetector(const char* code, HappensBefore& order, Report& report)
    : order_(order), found_(code, instructions_, report) {}

AccessContext RaceDetector::context_of(const AccessEvent& event, Shadow& shadow, uint64_t shift,
                                       const machine::Allocation* allocation) {
    WarpOrder& w = order_.warp(*event.warp);
    w.used = true;
    const machine::SiteId id = instructions_.identify(event);
    instructions_.enter(id, event, allocation);
    const bool is_load = event.kind == AccessKind::kLoad;
    AccessContext c{
        event, w, shadow, shift, allocation, order_, instructions_, instructions_.occurred()};
    c.id = id;
    c.role = is_strong(event) ? (is_load ? AccessRole::kStrongLoad : AccessRole::kStrongWrite)
                              : (is_load ? AccessRole::kLoad : AccessRole::kStore);
    set_floors(c, allocation);
    return c;
}

void RaceDetector::set_floors(AccessContext& c, bool global) const {
    c.floor = entry_floor(order_.ordered_before());
    c.block_first = entry_floor(c.warp.block->first_segment);
    c.block_floor = entry_floor(c.warp.block->floor);
    c.ordered_floor = global ? c.floor : std::max(c.floor, c.block_floor);
    c.segment = c.warp.segment;
    c.partial = order_.partial();
}

// Of plain loads and stores.
void RaceDetector::plain(AccessContext& c, uint32_t lanes) {
    const AccessEvent& event = c.event;
    const uint32_t shape = SectorCheck::shape_of_access(event, lanes, c.shift);
    if (shape != kNoShape) {
        sectors_.in_order(c, shape);
    } else if (const uint32_t row = SectorCheck::row_length(event, lanes, c.shift)) {
        // Rows of a tile that is narrower than a warp.
        for (uint32_t lane = 0; lane < machine::kWarpSize; lane += row)
            sectors_.in_order(c, uint32_t(std::countr_zero(event.bytes)), lane, row);
    } else {
        cells_.scattered(c, lanes);
    }
}

void RaceDetector::access(const AccessEvent& event, uint32_t lanes, uint32_t published,
                          const machine::Allocation* allocation, Shadow& shadow, uint64_t shift) {
    if (event.kind == AccessKind::kLoad && !is_strong(event) &&
        defer(event, lanes, allocation, shadow, shift))
        return;
    AccessContext c = context_of(event, shadow, shift, allocation);
    enter_deferred(shadow, allocation ? nullptr : c.warp.block);
    c.published = published;
    if (event.kind != AccessKind::kLoad) shadow.note_write(c.segment);
    if (event.wrote_only_if_equal) {
        // One that finds another value is a load (PTX ISA, "atom": the operation .cas).
        const uint32_t stores = lanes & lanes_that_swap(c, lanes);
        c.role = AccessRole::kStrongLoad;
        if (lanes & ~stores) cells_.scattered(c, lanes & ~stores);
        c.role = AccessRole::kStrongWrite;
        if (stores) cells_.scattered(c, stores);
    } else if (c.role <= AccessRole::kStore) {
        plain(c, lanes);
    } else {
        cells_.scattered(c, lanes);
    }
    if (c.races) found_.report(c);
    c.warp.steps.note(event.site, c.segment);
    if (c.role == AccessRole::kStrongWrite && event.kind == AccessKind::kStore && allocation)
        order_.end_segment(c.warp);
}

}  // namespace checks
