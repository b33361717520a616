// SPDX-License-Identifier: MIT
// Slots of addresses that memory.cpp gives to allocations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <new>

#include "machine/memory.h"

namespace machine {

// Consecutive slots of one size, and who lives (or lived last) in each.
struct AddressRegion {
    struct Run {
        uint64_t first, count;
    };
    uint64_t base = 0, slots = 0;
    unsigned shift = 0;
    uint64_t fresh = 0;     // slots below were used at least once
    std::deque<Run> freed;  // oldest first
    Allocation** tenant = nullptr;

    void open(uint64_t at, uint64_t bytes, unsigned slot_shift) {
        base = at;
        shift = slot_shift;
        slots = bytes >> slot_shift;
        tenant = static_cast<Allocation**>(std::calloc(slots, sizeof(Allocation*)));
        if (!tenant) throw std::bad_alloc();
    }
    uint64_t slot_bytes() const { return 1ull << shift; }
    uint64_t offset() const { return slot_bytes() / 2; }
    // Data starts in the middle of the first slot, and a quarter of a slot stays free after it.
    uint64_t slots_for(uint64_t bytes) const {
        return ((bytes + offset() + slot_bytes() / 4 - 1) >> shift) + 1;
    }
    bool has_fresh(uint64_t count) const { return count <= slots - fresh; }
    Run take_fresh(uint64_t count) {
        const Run run{fresh, count};
        fresh += count;
        return run;
    }
    bool take_freed(uint64_t count, Run& run) {
        const auto fits = [&](const Run& candidate) { return candidate.count >= count; };
        const auto found = std::find_if(freed.begin(), freed.end(), fits);
        if (found == freed.end()) return false;
        run = *found;
        freed.erase(found);
        return true;
    }
};

}  // namespace machine
