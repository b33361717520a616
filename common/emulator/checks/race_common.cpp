// SPDX-License-Identifier: MIT
// What kind of access an event is, and which way through the shadow suits it.
#include "checks/race_common.h"

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
    t.by_volatile = event.order == machine::MemoryOrder::kVolatile && !t.atomic &&
                    event.space == ptx::Space::kShared;
    t.block_scope = event.scope == machine::Scope::kCta || event.scope == machine::Scope::kCluster;
    return t;
}

void RaceDetector::access(const AccessEvent& event, uint32_t lanes, uint32_t published,
                          const machine::Allocation* allocation, Shadow& shadow, uint64_t shift) {
    WarpOrder& w = order_.warp(*event.warp);
    w.used = true;
    if (event.site >= traits_.size()) traits_.resize(event.site + 256);
    AccessTraits& traits = traits_[event.site];
    if (!traits.known) {
        traits = traits_of(event);
        narrow_seen_ |= traits.strong && traits.block_scope && allocation;
        volatile_seen_ |= traits.by_volatile;
        strong_store_seen_ |= traits.strong && event.kind == AccessKind::kStore && allocation;
    }
    const bool is_load = event.kind == AccessKind::kLoad;
    Context c{event, w, shadow, shift, allocation};
    c.role = is_strong(event) ? (is_load ? Role::kStrongLoad : Role::kStrongWrite)
                              : (is_load ? Role::kLoad : Role::kStore);
    c.floor = entry_floor(order_.ordered_before());
    c.block_first = entry_floor(w.block->first_segment);
    c.block_floor = entry_floor(w.block->floor);
    c.segment = w.segment;
    c.partial = order_.partial();
    c.published = published;
    const uint32_t shape = c.role <= Role::kStore ? shape_of_access(event, lanes, shift) : kNoShape;
    if (shape != kNoShape) {
        in_order(c, shape);
    } else {
        scattered(c, lanes);
    }
    if (c.races) flush(c);
    w.steps.note(event.site, c.segment);
    if (c.role == Role::kStrongWrite && event.kind == AccessKind::kStore && allocation)
        order_.end_segment(w);
}

}  // namespace checks
