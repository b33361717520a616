// SPDX-License-Identifier: MIT
// One access while it is compared with earlier ones, and the questions about a pair of accesses
// that all parts of the race detector ask.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checks/race/happens_before.h"
#include "checks/race/instructions.h"
#include "checks/race/shadow.h"
#include "machine/observer.h"

namespace checks {

constexpr uint32_t kNoLane = 32;

enum class AccessRole : uint8_t { kLoad, kStore, kStrongLoad, kStrongWrite };

struct AccessContext {
    const machine::AccessEvent& event;
    WarpOrder& warp;
    Shadow& shadow;
    uint64_t shift;
    const machine::Allocation* allocation;  // null: shared memory
    HappensBefore& order;
    InstructionTable& instructions;
    const InstructionTable::Occurred& occurred;
    AccessRole role = AccessRole::kLoad;
    bool partial = false;  // lanes may know more than the floors say
    uint32_t published = 0;
    machine::SiteId id = 0;  // of the instruction, see InstructionTable::identify
    Segment segment = 0;
    Epoch floor = 0;  // entries below are ordered before every thread
    Epoch block_first =
        0;  // entries below are of blocks that began before this one, or of no block
    Epoch block_floor = 0;  // entries of this block below are ordered before all of its threads
    // Entries below are ordered before all threads of this block. Shared memory has entries of this
    // block only, so there it is the later one of `floor` and `block_floor`.
    Epoch ordered_floor = 0;
    uint64_t offset = 0;                   // of the sector that is compared
    Segment ordered_writer = ~Segment(0);  // one that is known to be ordered before the warp
    uint32_t races = 0;                    // found in this access, see FoundRaces

    uint64_t address(uint32_t byte) const { return offset + byte - shift; }
};

// A lane of `e` that is not ordered before `lane` of the access; kNoLane: all are. `load`: `e` is a
// load.
inline uint32_t unordered_lane(const AccessContext& c, Epoch e, uint32_t lane, bool load = false) {
    const uint32_t first = lane_of(e), second = second_lane_of(e);
    if (load) {
        if (!c.order.load_ordered(segment_of(e), first, c.warp, lane)) return first;
        if (second != first && !c.order.load_ordered(segment_of(e), second, c.warp, lane))
            return second;
        return kNoLane;
    }
    if (!c.order.ordered(segment_of(e), first, c.warp, lane)) return first;
    if (second != first && !c.order.ordered(segment_of(e), second, c.warp, lane)) return second;
    return kNoLane;
}

// How much `e` still matters beside a newer access by `lane`: 0 not at all, since it is ordered
// before; 1 it is of the same warp, 2 of the same block, 3 of another block.
uint32_t rank(const AccessContext& c, Epoch e, uint32_t lane);

// Patterns are those of whole warps, see shadow.h. Whether `e` is ordered before `mine`, for every
// byte that both cover.
bool pattern_ordered(const AccessContext& c, Epoch e, Epoch mine, bool load = false);
// As rank(), for a pattern.
uint32_t pattern_rank(const AccessContext& c, Epoch e, Epoch mine);

// What memory holds at an address within the access of `lane`; null when that is not known.
const std::byte* held_at(const AccessContext& c, uint64_t address, uint32_t lane);
// Whether `lane` stores the value that `writer` stored into this cell.
bool stores_what_is_there(const AccessContext& c, Epoch writer, uint32_t byte, uint32_t bytes,
                          uint32_t lane);

}  // namespace checks
