// SPDX-License-Identifier: MIT
// Plain accesses of whole warps in order, sector by sector: all lanes side by side, or each at the
// same member of a struct. A sector that one entry for each role cannot describe is compared cell
// by cell.
#pragma once

#include <cstdint>

#include "checks/race/cells.h"
#include "checks/race/context.h"

namespace checks {

class SectorCheck {
public:
    explicit SectorCheck(CellCheck& cells) : cells_(cells) {}

    // If all lanes are active and evenly spaced: the shape that a pattern of them has. Otherwise
    // kNoShape.
    static uint32_t shape_of_access(const machine::AccessEvent& event, uint32_t lanes,
                                    uint64_t shift);
    // If all lanes are active and form rows of 16 or 8 lanes side by side, apart from each other:
    // the lanes of a row. Otherwise 0.
    static uint32_t row_length(const machine::AccessEvent& event, uint32_t lanes, uint64_t shift);
    // Compares and enters a plain access of that shape by `lanes` lanes from `first_lane` on.
    void in_order(AccessContext& c, uint32_t shape, uint32_t first_lane = 0,
                  uint32_t lanes = machine::kWarpSize);
    // For a whole sector: true if nothing races, and the access is entered. False: compare cell by
    // cell.
    bool load_sector(AccessContext& c, Sector& s, Epoch mine);
    bool store_sector(AccessContext& c, Sector& s, Epoch mine);

private:
    bool writers_ordered(AccessContext& c, Sector& s, Epoch mine);
    bool readers_ordered(AccessContext& c, Sector& s, Epoch mine);
    bool cells_ordered(const AccessContext& c, const Sector& s, Epoch mine, const Epoch* cells,
                       uint32_t entries, bool load = false) const;

    CellCheck& cells_;
};

}  // namespace checks
