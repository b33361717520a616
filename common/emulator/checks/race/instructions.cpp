// SPDX-License-Identifier: MIT
#include "checks/race/instructions.h"

#include "checks/race/happens_before.h"
#include "checks/report/places.h"

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;

namespace {

// An update for which an older value is as good as the newer one: marking in a search, a minimum, a
// slot that is claimed once. Sums and counters are not of this kind.
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
machine::SiteId InstructionTable::identify_called(const AccessEvent& event) {
    const auto [entry, fresh] = called_.try_emplace(uint64_t(event.site) << 32 | event.instruction,
                                                    kCalled | machine::SiteId(places_.size()));
    if (fresh) places_.push_back(event.site);
    return entry->second;
}

AccessTraits& InstructionTable::traits(machine::SiteId id) {
    auto& list = id & kCalled ? called_traits_ : traits_;
    const size_t index = id & ~kCalled;
    if (index >= list.size()) list.resize(index + 256);
    return list[index];
}

const AccessTraits& InstructionTable::traits(machine::SiteId id) const {
    static const AccessTraits kUnknown;
    const auto& list = id & kCalled ? called_traits_ : traits_;
    const size_t index = id & ~kCalled;
    return index < list.size() ? list[index] : kUnknown;
}

void InstructionTable::enter_new(machine::SiteId id, const AccessEvent& event, bool global) {
    AccessTraits& known = traits(id);
    if (known.known) return;
    known = traits_of(event);
    occurred_.atomic |= known.atomic;
    occurred_.narrow |= known.strong && known.block_scope && global;
    occurred_.by_volatile |= known.by_volatile;
    occurred_.strong_store |= known.strong && event.kind == AccessKind::kStore && global;
}

}  // namespace checks
