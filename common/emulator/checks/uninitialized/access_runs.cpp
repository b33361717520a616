// SPDX-License-Identifier: MIT
// Uninitialised memory and accesses of a lane that is alone, many at a time:
// machine/execute/access_runs.h.
#include <bit>

#include "checks/uninitialized/uninitialized.h"

namespace checks {
namespace {

using machine::AccessEvent;
using machine::AccessKind;

// How many of `most` accesses, `step` bytes apart and the first at bit `at`, read only
// written bytes.
uint64_t written_steps(const Bits& bits, uint64_t at, uint32_t width, int64_t step, uint64_t most) {
    const uint64_t span = uint64_t(step < 0 ? -step : step) * (most - 1) + width;
    const uint64_t low = step < 0 ? at + width - span : at;
    if (bits.all(low, span)) return most;
    uint64_t count = 0;
    while (count < most && bits.all_small(at + count * uint64_t(step), width)) ++count;
    return count;
}

void write_steps(Bits& bits, uint64_t at, uint32_t width, int64_t step, uint64_t count) {
    if (step == int64_t(width)) return bits.set(at, width * count);
    for (uint64_t k = 0; k < count; ++k) bits.set_small(at + k * uint64_t(step), width);
}

// Passes each store of a run to the pending reads.
void pass_stores(PendingReads& pending, const AccessEvent& first, int64_t step, uint64_t count) {
    if (pending.empty()) return;
    AccessEvent event = first;
    const uint32_t lane = uint32_t(std::countr_zero(first.mask));
    uint64_t address[machine::kWarpSize];
    event.address = address;
    for (uint64_t k = 0; k < count; ++k) {
        address[lane] = first.address[lane] + k * uint64_t(step);
        pending.on_store(event, event.mask);
    }
}

}  // namespace

uint64_t UninitializedGlobal::foresee(const AccessEvent& next, int64_t step, uint64_t most) {
    const machine::Allocation& allocation = *next.allocation;
    Bits* const bits = shadow(allocation);
    if (!bits || next.kind == AccessKind::kStore) return most;
    if (allocation.marked) return 0;  // the host may have written it meanwhile
    const uint64_t at = next.address[std::countr_zero(next.mask)] - allocation.address;
    return written_steps(*bits, at, next.bytes, step, most);
}

void UninitializedGlobal::on_access_run(const AccessEvent& first, int64_t step, uint64_t count) {
    Bits* const bits = shadow(*first.allocation);
    if (!bits || first.kind == AccessKind::kLoad) return;
    pass_stores(pending_, first, step, count);
    const uint64_t at = first.address[std::countr_zero(first.mask)] - first.allocation->address;
    write_steps(*bits, at, first.bytes, step, count);
}

uint64_t UninitializedShared::foresee(const AccessEvent& next, int64_t step, uint64_t most) {
    if (next.kind == AccessKind::kStore) return most;
    const uint32_t at = next.shared_offset(uint32_t(std::countr_zero(next.mask)));
    return written_steps(shadow(*next.warp->block), at, next.bytes, step, most);
}

void UninitializedShared::on_access_run(const AccessEvent& first, int64_t step, uint64_t count) {
    if (first.kind == AccessKind::kLoad) return;
    pass_stores(pending_, first, step, count);
    const uint32_t at = first.shared_offset(uint32_t(std::countr_zero(first.mask)));
    write_steps(shadow(*first.warp->block), at, first.bytes, step, count);
}

}  // namespace checks
