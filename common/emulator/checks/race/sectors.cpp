// SPDX-License-Identifier: MIT
#include "checks/race/sectors.h"

#include <algorithm>
#include <bit>

#include "checks/race/history.h"

namespace checks {

using machine::AccessEvent;

// Whether all cells that `mine` touches are ordered before it; false when they are too coarse.
bool SectorCheck::cells_ordered(const AccessContext& c, const Sector& s, Epoch mine,
                                const Epoch* cells, uint32_t entries, bool load) const {
    const uint32_t bytes = s.cell_bytes();
    if (bytes == 4 && needs_bytes(mine)) return false;
    for (uint32_t i = 0; i < s.cells(); ++i) {
        const Epoch here = cell_of_pattern(mine, i * bytes);
        for (uint32_t k = 0; here && k < entries; ++k) {
            const Epoch e = cells[i * entries + k];
            if (e >= c.ordered_floor && unordered_lane(c, e, lane_of(here), load) != kNoLane)
                return false;
        }
    }
    return true;
}

bool SectorCheck::writers_ordered(AccessContext& c, Sector& s, Epoch mine) {
    if (s.has(Sector::kMoreAtomics) && !spilled_ordered(c, s, mine, Sector::kMoreAtomics))
        return false;
    if (s.has(Sector::kWriterCells) ? !cells_ordered(c, s, mine, s.writer_cells(), 1)
                                    : !pattern_ordered(c, s.writer, mine))
        return false;
    return !s.atomic_cells() || cells_ordered(c, s, mine, &s.atomic_cells()->first, 2);
}

bool SectorCheck::readers_ordered(AccessContext& c, Sector& s, Epoch mine) {
    if (s.has(Sector::kMoreReaders) && !spilled_ordered(c, s, mine, Sector::kMoreReaders))
        return false;
    if (s.has(Sector::kReaderCells))
        return cells_ordered(c, s, mine, &s.reader_cells()->first, 2, true);
    return pattern_ordered(c, s.reader, mine, true) && pattern_ordered(c, s.reader2, mine, true);
}

bool SectorCheck::load_sector(AccessContext& c, Sector& s, Epoch mine) {
    if (s.rest) c.shadow.tidy(s, c.floor);
    const bool ordered = s.rest == 0 && s.writer < c.floor;
    if (!ordered && !writers_ordered(c, s, mine)) return false;
    if (!s.has(Sector::kReaderCells)) {
        if (s.reader >= c.floor) return remember_pattern(c, s, mine);
        s.reader = mine;
        s.reader2 = 0;
        return true;
    }
    const uint32_t bytes = s.cell_bytes();
    if (bytes == 4 && needs_bytes(mine)) return false;
    Pair* readers = s.reader_cells();
    for (uint32_t i = 0; i < s.cells(); ++i)
        if (const Epoch here = cell_of_pattern(mine, i * bytes))
            remember_read(c, s, readers[i], here, i * bytes);
    return true;
}

bool SectorCheck::store_sector(AccessContext& c, Sector& s, Epoch mine) {
    if (s.rest) c.shadow.tidy(s, c.floor);
    if (!shape_of(mine).whole) {
        // Entries of the other bytes must stay.
        const auto fits = [&](Epoch e) { return e < c.floor || same_bytes(e, mine); };
        if (s.rest || !fits(s.writer) || !fits(s.reader) || !fits(s.reader2)) return false;
    }
    if (!writers_ordered(c, s, mine) || !readers_ordered(c, s, mine)) return false;
    // An access that races with one of those before also races with this store: they can be
    // removed.
    if (s.rest) {
        c.shadow.clear_writer(s);
        c.shadow.clear_readers(s);
        c.shadow.clear_atomics(s);
    }
    s = {mine, 0, 0, 0};
    return true;
}

uint32_t SectorCheck::shape_of_access(const AccessEvent& event, uint32_t lanes, uint64_t shift) {
    if (lanes != machine::kAllLanes) return kNoShape;
    const uint64_t first = event.address[0] + shift, bytes = event.bytes;
    if (first % bytes) return kNoShape;
    if (event.contiguous) return uint32_t(std::countr_zero(bytes));
    const uint64_t step = event.address[1] - event.address[0];
    if (step > 16 || step <= bytes || !std::has_single_bit(step)) return kNoShape;
    uint64_t different = 0;
    for (uint64_t i = 0; i < machine::kWarpSize; ++i)
        different |= event.address[i] ^ (event.address[0] + i * step);
    if (different) return kNoShape;
    return find_shape(uint32_t(std::countr_zero(step)), uint32_t(first % step), uint32_t(bytes));
}

namespace {

// Whether all lanes lie in rows of `row` lanes side by side, of which no two meet.
bool has_rows(const uint64_t* a, uint64_t bytes, uint32_t row) {
    const uint64_t length = row * bytes;
    for (uint32_t first = 0; first < machine::kWarpSize; first += row) {
        for (uint32_t other = 0; other < first; other += row)
            if (a[first] - a[other] + length < 2 * length) return false;
        for (uint32_t i = 1; i < row; ++i)
            if (a[first + i] != a[first] + i * bytes) return false;
    }
    return true;
}

}  // namespace

uint32_t SectorCheck::row_length(const AccessEvent& event, uint32_t lanes, uint64_t shift) {
    const uint64_t bytes = event.bytes;
    const uint64_t* a = event.address;
    if (lanes != machine::kAllLanes || !std::has_single_bit(bytes) || a[1] != a[0] + bytes)
        return 0;
    for (const uint32_t row : {16u, 8u}) {
        // Shorter ones would only fill their sectors with cells.
        if (row * bytes < kSectorBytes || a[row] == a[0] + row * bytes) continue;
        if (!has_rows(a, bytes, row)) continue;
        for (uint32_t first = 0; first < machine::kWarpSize; first += row)
            if ((a[first] + shift) % bytes) return 0;
        return row;
    }
    return 0;
}

void SectorCheck::in_order(AccessContext& c, uint32_t shape, uint32_t first_lane, uint32_t lanes) {
    const bool load = c.role == AccessRole::kLoad;
    const uint32_t log2 = kShape[shape].log2, step = 1u << log2;
    // From the first lane's struct to the last one's.
    const uint64_t start = (c.event.address[first_lane] + c.shift) & ~uint64_t(step - 1);
    const uint64_t end = start + lanes * step;
    const Epoch first = pattern_entry(c.segment, c.id, first_lane, shape);
    for (uint64_t at = start & ~uint64_t(kSectorBytes - 1); at < end; at += kSectorBytes) {
        Sector& s = c.shadow.sector(at);
        c.offset = at;
        if (at >= start && at + kSectorBytes <= end) {
            const Epoch mine = first + ((at - start) >> log2 << 5);
            // The usual case: no access in this launch before.
            if (s.rest == 0 && s.writer < c.floor && s.reader < c.floor) {
                (load ? s.reader : s.writer) = mine;
                continue;
            }
            if (load ? load_sector(c, s, mine) : store_sector(c, s, mine)) continue;
        }
        if (kShape[shape].parts) c.shadow.use_byte_cells(s);
        c.shadow.prepare_words(s);
        const uint64_t low = std::max(at, start), high = std::min(at + kSectorBytes, end);
        for (uint64_t i = low; i < high; i += s.cell_bytes())
            if (kShape[shape].covered >> ((i - start) & (step - 1)) & 1)
                cells_.plain_cell(
                    c, s, uint32_t(i - at), first_lane + uint32_t((i - start) >> log2));
    }
}

}  // namespace checks
