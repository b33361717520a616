// SPDX-License-Identifier: MIT
// One access against the shadow, cell by cell: scattered addresses, atomics, and sectors for which
// SectorCheck has no answer.
#pragma once

#include <cstdint>

#include "checks/race/compare.h"
#include "checks/race/context.h"

namespace checks {

class CellCheck {
public:
    explicit CellCheck(PairComparison& compare) : compare_(compare) {}

    // Compares and enters the access of each of `lanes`.
    void scattered(AccessContext& c, uint32_t lanes);
    // The same for one cell of a plain access.
    void plain_cell(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane);

private:
    template <AccessRole role>
    void scattered(AccessContext& c, uint32_t lanes);
    template <AccessRole role>
    void fetch_ahead(AccessContext& c);
    template <AccessRole role>
    bool hurried(AccessContext& c, Sector& s, uint32_t byte, Epoch mine) const;
    template <AccessRole role>
    void cell(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane);
    void store_cell(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane);
    void compare_with_readers(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane);
    void compare_with_atomics(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane);
    bool atomics_allow_store(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane);

    PairComparison& compare_;
};

}  // namespace checks
