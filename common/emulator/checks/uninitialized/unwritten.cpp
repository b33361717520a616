// SPDX-License-Identifier: MIT
#include "checks/uninitialized/unwritten.h"

#include <bit>
#include <string_view>

#include "checks/report/places.h"

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;

void stay_unwritten(const AccessEvent& event, Bits& bits, uint64_t base, uint32_t lanes) {
    for (uint32_t m = lanes; m; m &= m - 1)
        bits.reset(event.address[std::countr_zero(m)] - base, event.bytes);
}

uint32_t unwritten_lanes(const AccessEvent& event, Bits& bits, uint64_t base, uint32_t lanes) {
    const uint32_t width = event.bytes;
    if (event.contiguous && lanes == machine::kAllLanes) {
        const uint64_t start = event.address[0] - base;
        if (event.kind == AccessKind::kStore) {
            bits.set(start, uint64_t(width) * 32);
            return 0;
        }
        if (bits.all(start, uint64_t(width) * 32)) return 0;
    }
    uint32_t missing = 0;
    // A small area that contains the accesses of all lanes is often written as a whole.
    const uint64_t span = event.highest - event.lowest;
    if (event.kind != AccessKind::kStore && event.highest && span < 2048 && !event.bad_lanes &&
        lanes == event.mask && bits.all(event.lowest - base, span + width))
        return 0;
    if (event.kind == AccessKind::kStore) {
        for (uint32_t m = lanes; m; m &= m - 1) {
            bits.set_small(event.address[std::countr_zero(m)] - base, width);
        }
        return 0;
    }
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        if (!bits.all_small(event.address[lane] - base, width)) missing |= 1u << lane;
    }
    if (!missing) return 0;
    uint32_t empty = 0;
    for (uint32_t m = missing; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        if (!bits.any(event.address[lane] - base, width)) empty |= 1u << lane;
    }
    if (event.tracked) return empty;
    // Set after the loop, so that all lanes that read the same byte are counted.
    const uint32_t settled = event.kind == AccessKind::kLoad ? empty : missing;
    for (uint32_t m = settled; m; m &= m - 1) {
        bits.set_small(event.address[std::countr_zero(m)] - base, width);
    }
    return empty;
}

bool is_exchange(const AccessEvent& event) {
    return event.kind != AccessKind::kLoad && !event.wrote_only_if_equal &&
           opcode_of(event).find(".exch") != std::string_view::npos;
}

void add_finding(ThreadFindings& findings, const char* code, const PendingReads::Read& read,
                 uint64_t subject, const char* who, const std::function<Array()>& name) {
    machine::WarpInfo warp;
    warp.block = &read.block;
    warp.index = read.warp;
    warp.valid = read.valid;
    findings.add(code, read.site, warp, read.lanes, subject, read.address, [&](uint32_t lane) {
        Draft draft;
        draft.array = name();
        const std::string element = draft.array.elements_at(read.address[lane], read.bytes);
        const bool several = element.find("` to `") != std::string::npos;
        Finding& finding = draft.finding;
        finding.message = element + (several ? " are " : " is ") + done_by(read.kind) + ", but " +
                          who + " has ever written " + (several ? "them" : "it");
        finding.allocation = draft.array.description;
        finding.address = hex(read.address[lane]);
        finding.bytes = read.bytes;
        if (!draft.array.name.empty()) finding.facts.add("array", draft.array.name);
        finding.facts.add("access", access_name(read.kind));
        return draft;
    });
}

void note_read(const ReadLog& log, const AccessEvent& event, uint32_t empty, const void* owner,
               machine::UndefinedLoad* answer) {
    if (!answer) {
        log.pending.add(event, empty, owner, true);
        return;
    }
    answer->lanes |= empty;
    if (const uint32_t origin = log.left.origin(event, uint32_t(std::countr_zero(empty)))) {
        answer->origin = origin;
        return;
    }
    answer->by = log.checker;
    answer->token = log.pending.add(event, empty, owner, false);
}

uint64_t LeftValues::key(const AccessEvent& event, uint32_t lane) {
    // Every block has its own shared memory.
    const bool shared = event.space == ptx::Space::kShared;
    return event.address[lane] ^ (shared ? event.warp->block->serial << 32 : 0);
}

void LeftValues::store(const AccessEvent& event, uint32_t lanes) {
    constexpr size_t kMost = 1 << 20;
    for (uint32_t m = lanes; m && origins_.size() < kMost; m &= m - 1)
        origins_[key(event, uint32_t(std::countr_zero(m)))] = event.undefined_origin;
}

uint32_t LeftValues::origin(const AccessEvent& event, uint32_t lane) const {
    if (origins_.empty()) return 0;
    const auto found = origins_.find(key(event, lane));
    return found == origins_.end() ? 0 : found->second;
}

}  // namespace checks
