// SPDX-License-Identifier: MIT
// The event of one access, and the result of an invalid load. Compiled once per processor level,
// with access.cpp, in an unnamed namespace: see arith_core.h.
#pragma once

#include <cstring>
#include <vector>

#include "machine/definedness/undefined.h"
#include "machine/lanes/addresses.h"
#include "machine/state/launch_state.h"

namespace machine::LEVEL_NS {
namespace {

// The result of an invalid load: NaN as a float, and not a plausible index or pointer.
constexpr unsigned char kPoison = 0xFF;

// The memory that an access refers to.
struct Place {
    Allocation* allocation = nullptr;
    const SharedVariable* variable = nullptr;
    uint32_t bad = 0;
    uint32_t object_begin = 0, object_end = 0;  // of local memory
};

void poison(LaunchState& ex, const MemoryOp& op, uint32_t lanes) {
    const auto fill = [&](uint32_t row, uint32_t bytes) {
        if (row == kNoRow) return;
        for_lanes(lanes,
                  [&](uint32_t i) { std::memset(ex.rows + row + i * bytes, kPoison, bytes); });
    };
    if (op.kind == AccessKind::kLoad)
        for (uint32_t e = 0; e < op.vector; ++e) fill(op.rows[e], op.row_bytes);
    else
        fill(op.dst, op.row_bytes);
}

[[gnu::noinline]] void notify(LaunchState& ex, const MemoryOp& op, ptx::Space space, uint32_t mask,
                              Addresses& a, const Place& place, uint32_t misaligned,
                              const std::vector<Observer*>& list) {
    a.finish(op.bytes);
    a.bound(mask);
    AccessEvent event;
    event.warp = &ex.warp->info;
    event.site = LaunchState::blamed(ex.frame, *ex.current);
    event.instruction = ex.current->site;
    event.space = space;
    event.kind = op.kind;
    event.order = op.order;
    event.scope = op.scope;
    event.wrote_only_if_equal = op.conditional;
    event.bytes = op.bytes;
    event.element_bytes = op.element_bytes;
    event.mask = mask;
    event.address = a.at;
    event.allocation = place.allocation;
    event.variable = place.variable;
    event.lowest = a.low;
    event.highest = a.high;
    event.contiguous = a.contiguous;
    event.pattern = a.pattern;
    event.bad_lanes = place.bad;
    event.misaligned_lanes = misaligned;
    event.object_begin = place.object_begin;
    event.object_end = place.object_end;
    const bool stores = op.kind == AccessKind::kStore && ex.follows && space != ptx::Space::kLocal;
    event.tracked = op.kind == AccessKind::kLoad && ex.follows && space != ptx::Space::kLocal;
    event.undefined_store = stores ? ex.undefined.store_into(space, mask & ~place.bad) : 0;
    event.undefined_origin = event.undefined_store ? ex.undefined.store_origin() : 0;
    event.values = nullptr;
    event.value_stride = 0;
    alignas(16) std::byte packed[kWarpSize * 16];
    if (op.kind == AccessKind::kStore) {
        if (op.vector == 1) {
            event.values = ex.rows + op.rows[0];
            event.value_stride = op.row_bytes;
        } else {
            for (uint32_t e = 0; e < op.vector; ++e)
                for_lanes(mask, [&](uint32_t i) {
                    std::memcpy(packed + i * 16 + e * op.element_bytes,
                                ex.rows + op.rows[e] + i * op.row_bytes,
                                op.element_bytes);
                });
            event.values = packed;
            event.value_stride = 16;
        }
    } else if (op.kind >= AccessKind::kAtomic) {
        event.operand = ex.rows + op.operands[0];
        event.operand_stride = op.row_bytes;
    }
    for (Observer* o : list) o->on_access(event);
    if (event.tracked) {
        const bool shared = space == ptx::Space::kShared;
        for (Observer* o : shared ? ex.observers.undefined_shared : ex.observers.undefined_global)
            if (const UndefinedLoad answer = o->undefined_lanes(event); answer.lanes)
                ex.undefined.loaded(answer);
    }
    if (place.bad | misaligned)
        for (Observer* o : ex.observers.bad) o->on_access(event);
}

[[gnu::always_inline]] inline void notify(LaunchState& ex, const MemoryOp& op, ptx::Space space,
                                          uint32_t mask, Addresses& a, const Place& place,
                                          uint32_t misaligned) {
    Observers& all = ex.observers;
    const std::vector<Observer*>& list = space == ptx::Space::kShared  ? all.shared
                                         : space == ptx::Space::kLocal ? all.local
                                                                       : all.global;
    if (list.empty() && !((place.bad | misaligned) && !all.bad.empty())) return;
    notify(ex, op, space, mask, a, place, misaligned, list);
}

}  // namespace
}  // namespace machine::LEVEL_NS
