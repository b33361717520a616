// SPDX-License-Identifier: MIT
// What one warp instruction costs the memory system, by rules measured with Nsight Compute on an
// H200. tests/emulator/checks/data/ncu_access.csv has all measurements, and a test compares them.
#pragma once

#include <cstdint>

#include "machine/events.h"

namespace checks {

// Distinct 32-byte segments that the active lanes access (l1tex sectors of a load or store).
// `bytes`: of one lane, 1 to 16; address[lane] is valid where `mask` is set; mask is not 0.
uint32_t global_sectors(uint32_t mask, const uint64_t* address, uint32_t bytes);

// What Nsight Compute counts as sectors of `red`: lanes with the same address take separate passes.
// The sum over segments of the number of lanes that share the segment's most frequent address.
uint32_t atomic_sectors(uint32_t mask, const uint64_t* address, uint32_t bytes);

struct SharedCost {
    uint32_t wavefronts = 0;
    uint32_t conflicts = 0;  // wavefronts beyond one for each pass
};
// Shared memory has 32 banks of 4 bytes; a wavefront serves one word of each bank to any number of
// lanes. Up to 4 bytes a lane go in one pass of 32 lanes, 8 bytes in two of 16, 16 bytes in four of
// 8. Neighbouring passes of a load merge when lanes come in pairs (i and i^1, or i and i^2) on the
// same address, of which the sweep measured the case that all are. `offset`: in the block's compact
// shared memory.
SharedCost shared_cost(machine::AccessKind kind, uint32_t mask, const uint32_t* offset,
                       uint32_t bytes);

}  // namespace checks
