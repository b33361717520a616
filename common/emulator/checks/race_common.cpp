// SPDX-License-Identifier: MIT
// What kind of access an event is, and which way through the shadow suits it.
#include "checks/race_common.h"

#include <bit>
#include <cstring>

#include "checks/race_context.h"
#include "checks/text.h"

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;

namespace {

// An update after which an older value is as good a start as the newer one: a search that marks,
// a minimum that sinks, a slot that is taken once. Sums and counters are not of this kind.
bool tolerates_stale(const AccessEvent& event) {
    const std::string_view opcode = opcode_of(event);
    for (const char* kind : {".cas", ".min", ".max", ".and", ".or"})
        if (opcode.find(kind) != opcode.npos) return true;
    return false;
}

}  // namespace

AccessTraits traits_of(const AccessEvent& event) {
    AccessTraits t;
    t.known = true;
    t.strong = is_strong(event);
    t.writes = event.kind != AccessKind::kLoad;
    t.atomic = event.kind >= AccessKind::kAtomic;
    t.forgiving = t.atomic && tolerates_stale(event);
    t.instruction = event.instruction;
    t.by_volatile = event.order == machine::MemoryOrder::kVolatile && !t.atomic &&
                    event.space == ptx::Space::kShared;
    t.block_scope = event.scope == machine::Scope::kCta || event.scope == machine::Scope::kCluster;
    return t;
}

// Instructions of a toolkit's function that was not inlined (-G) all have the place of the call.
machine::SiteId RaceDetector::identify(const AccessEvent& event) {
    if (event.site == event.instruction || event.instruction == 0) return event.site;
    const auto [entry, fresh] = called_.try_emplace(uint64_t(event.site) << 32 | event.instruction,
                                                    kCalled | machine::SiteId(places_.size()));
    if (fresh) places_.push_back(event.site);
    return entry->second;
}

AccessTraits& RaceDetector::traits_slot(machine::SiteId id) {
    auto& list = id & kCalled ? called_traits_ : traits_;
    const size_t index = id & ~kCalled;
    if (index >= list.size()) list.resize(index + 256);
    return list[index];
}

const AccessTraits& RaceDetector::traits_at(machine::SiteId id) const {
    static const AccessTraits kUnknown;
    const auto& list = id & kCalled ? called_traits_ : traits_;
    const size_t index = id & ~kCalled;
    return index < list.size() ? list[index] : kUnknown;
}

RaceDetector::Context RaceDetector::context_of(const AccessEvent& event, Shadow& shadow,
                                               uint64_t shift,
                                               const machine::Allocation* allocation) {
    WarpOrder& w = order_.warp(*event.warp);
    w.used = true;
    const machine::SiteId id = identify(event);
    AccessTraits& traits = traits_slot(id);
    if (!traits.known) {
        traits = traits_of(event);
        narrow_seen_ |= traits.strong && traits.block_scope && allocation;
        volatile_seen_ |= traits.by_volatile;
        strong_store_seen_ |= traits.strong && event.kind == AccessKind::kStore && allocation;
    }
    const bool is_load = event.kind == AccessKind::kLoad;
    Context c{event, w, shadow, shift, allocation};
    c.id = id;
    c.role = is_strong(event) ? (is_load ? Role::kStrongLoad : Role::kStrongWrite)
                              : (is_load ? Role::kLoad : Role::kStore);
    c.floor = entry_floor(order_.ordered_before());
    c.block_first = entry_floor(w.block->first_segment);
    c.block_floor = entry_floor(w.block->floor);
    c.segment = w.segment;
    c.partial = order_.partial();
    return c;
}

// The lanes of a compare-and-swap that may store: they expect what memory holds, or another lane of
// the instruction may have changed it before their turn.
uint32_t RaceDetector::lanes_that_swap(const Context& c, uint32_t lanes) {
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

void RaceDetector::access(const AccessEvent& event, uint32_t lanes, uint32_t published,
                          const machine::Allocation* allocation, Shadow& shadow, uint64_t shift) {
    Context c = context_of(event, shadow, shift, allocation);
    c.published = published;
    const uint32_t shape = c.role <= Role::kStore ? shape_of_access(event, lanes, shift) : kNoShape;
    if (event.wrote_only_if_equal) {
        // One that finds something else is a load (PTX ISA, "atom": the operation .cas).
        const uint32_t stores = lanes & lanes_that_swap(c, lanes);
        c.role = Role::kStrongLoad;
        if (lanes & ~stores) scattered(c, lanes & ~stores);
        c.role = Role::kStrongWrite;
        if (stores) scattered(c, stores);
    } else if (shape != kNoShape) {
        in_order(c, shape);
    } else {
        scattered(c, lanes);
    }
    if (c.races) flush(c);
    c.warp.steps.note(event.site, c.segment);
    if (c.role == Role::kStrongWrite && event.kind == AccessKind::kStore && allocation)
        order_.end_segment(c.warp);
}

}  // namespace checks
