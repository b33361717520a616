// SPDX-License-Identifier: MIT
// Writes elements of a matrix to the registers of a fragment. Private to matrix*.cpp.
#pragma once

#include <cstring>

#include "machine/state/launch_state.h"
#include "machine/units/matrix.h"

namespace machine {

inline void put(LaunchState& ex, const Fragment& f, unsigned lane, unsigned i, uint64_t bits) {
    for (unsigned r = i / f.per_register; r < f.registers; r += f.distinct) {
        std::byte* at = ex.rows + f.register_rows[r] + size_t(lane) * f.register_bytes;
        const unsigned bytes = bits_of(f.element) / 8;
        std::memcpy(at + bytes * (i % f.per_register), &bits, bytes);
    }
}

// bits_at(row * columns + column) for all elements of the active lanes.
template <class F>
void spread(LaunchState& ex, const Fragment& f, F&& bits_at) {
    const unsigned count = f.elements();
    for_lanes(ex.mask, [&](uint32_t lane) {
        for (unsigned i = 0; i < count; ++i)
            put(ex, f, lane, i, bits_at(f.where[lane * count + i]));
    });
}

}  // namespace machine
