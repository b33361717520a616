// SPDX-License-Identifier: MIT
// Plain accesses of whole warps in order, sector by sector: all lanes side by side, or each at the
// same member of a struct. What a glance at a sector cannot decide goes to its cells.
#include <algorithm>
#include <bit>

#include "checks/race_context.h"

namespace checks {

using machine::AccessEvent;

namespace {

// Each byte is in both or in neither.
bool same_bytes(Entry a, Entry b) {
    return (a & 31) == (b & 31) || (shape_of(a).whole && shape_of(b).whole);
}

// Lane by lane the same thread: nothing to order.
bool same_lanes(Entry a, Entry b) {
    return lane_of(a) == lane_of(b) && shape_of(a).log2 == shape_of(b).log2;
}

}  // namespace

bool RaceDetector::pattern_ordered(const Context& c, Entry e, Entry mine, bool load) const {
    if (e < c.floor) return true;
    const Segment segment = segment_of(e);
    if (segment >= order_.launch_first() && order_.warp_of(segment) == c.warp.number)
        return segment < c.warp.floor || same_lanes(e, mine);
    return load ? order_.loads_ordered_for_all(segment, c.warp)
                : order_.ordered_for_all(segment, c.warp);
}

// How much a pattern still matters beside `mine`: see rank().
uint32_t RaceDetector::pattern_rank(const Context& c, Entry e, Entry mine) const {
    if (pattern_ordered(c, e, mine)) return 0;
    const Segment segment = segment_of(e);
    if (segment < order_.launch_first()) return 3;
    const uint32_t warp = order_.warp_of(segment);
    return warp == c.warp.number ? 1 : order_.same_block(warp, c.warp) ? 2 : 3;
}

// Whether all cells that `mine` touches are ordered before it; false when they are too coarse to
// say.
bool RaceDetector::cells_ordered(const Context& c, const Sector& s, Entry mine, const Entry* cells,
                                 uint32_t entries, bool load) const {
    const uint32_t bytes = s.cell_bytes();
    if (bytes == 4 && needs_bytes(mine)) return false;
    for (uint32_t i = 0; i < s.cells(); ++i) {
        const Entry here = cell_of_pattern(mine, i * bytes);
        for (uint32_t k = 0; here && k < entries; ++k) {
            const Entry e = cells[i * entries + k];
            if (e >= c.floor && unordered_lane(c, e, lane_of(here), load) != kNobody) return false;
        }
    }
    return true;
}

bool RaceDetector::writers_ordered(Context& c, Sector& s, Entry mine) {
    if (s.has(Sector::kMoreAtomics) && !spilled_ordered(c, s, mine, Sector::kMoreAtomics))
        return false;
    if (s.has(Sector::kWriterCells) ? !cells_ordered(c, s, mine, s.writer_cells(), 1)
                                    : !pattern_ordered(c, s.writer, mine))
        return false;
    return !s.atomic_cells() || cells_ordered(c, s, mine, &s.atomic_cells()->first, 2);
}

bool RaceDetector::readers_ordered(Context& c, Sector& s, Entry mine) {
    if (s.has(Sector::kMoreReaders) && !spilled_ordered(c, s, mine, Sector::kMoreReaders))
        return false;
    if (s.has(Sector::kReaderCells))
        return cells_ordered(c, s, mine, &s.reader_cells()->first, 2, true);
    return pattern_ordered(c, s.reader, mine, true) && pattern_ordered(c, s.reader2, mine, true);
}

// True: nothing races, and the access is entered. False: see cell by cell.
bool RaceDetector::load_sector(Context& c, Sector& s, Entry mine) {
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
        if (const Entry here = cell_of_pattern(mine, i * bytes))
            remember_read(c, s, readers[i], here, i * bytes);
    return true;
}

bool RaceDetector::store_sector(Context& c, Sector& s, Entry mine) {
    if (s.rest) c.shadow.tidy(s, c.floor);
    if (!shape_of(mine).whole) {
        // What is known of the other bytes must stay.
        const auto fits = [&](Entry e) { return e < c.floor || same_bytes(e, mine); };
        if (s.rest || !fits(s.writer) || !fits(s.reader) || !fits(s.reader2)) return false;
    }
    if (!writers_ordered(c, s, mine) || !readers_ordered(c, s, mine)) return false;
    // Whoever races with one of those before also races with this store: they can be forgotten.
    if (s.rest) {
        c.shadow.clear_writer(s);
        c.shadow.clear_readers(s);
        c.shadow.clear_atomics(s);
    }
    s = {mine, 0, 0, 0};
    return true;
}

// Like remember(), for the readers of a sector by whole warps.
bool RaceDetector::remember_pattern(Context& c, Sector& s, Entry mine) {
    const bool second_lives = s.reader2 >= c.floor;
    if (!same_bytes(s.reader, mine) || (second_lives && !same_bytes(s.reader2, mine))) {
        // Different members of the structs: two of them fit.
        if (second_lives) return false;
        s.reader2 = s.reader;
        s.reader = mine;
        return true;
    }
    if (!c.partial && second_lives && s.reader2 < c.block_first) {
        s.reader = mine;  // and reader2, of another block, stays
        return true;
    }
    const uint32_t first = pattern_rank(c, s.reader, mine);
    if (first == 1) return false;  // other lanes of this warp: keep count cell by cell
    const uint32_t second = second_lives ? pattern_rank(c, s.reader2, mine) : 0;
    if (c.partial && first && second)
        spill(c, s, 0, true, first >= second ? s.reader2 : s.reader, Sector::kMoreReaders);
    s.reader2 = first | second ? (first >= second ? s.reader : s.reader2) : 0;
    s.reader = mine;
    return true;
}

// If all lanes are active and evenly spaced: the shape that a pattern of them has.
uint32_t RaceDetector::shape_of_access(const AccessEvent& event, uint32_t lanes, uint64_t shift) {
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

void RaceDetector::in_order(Context& c, uint32_t shape) {
    const bool load = c.role == Role::kLoad;
    const uint32_t log2 = kShape[shape].log2, step = 1u << log2;
    // From the first lane's struct to the last one's.
    const uint64_t start = (c.event.address[0] + c.shift) & ~uint64_t(step - 1);
    const uint64_t end = start + machine::kWarpSize * step;
    const Entry first = pattern_entry(c.segment, c.id, 0, shape);
    for (uint64_t at = start & ~uint64_t(kSectorBytes - 1); at < end; at += kSectorBytes) {
        Sector& s = c.shadow.sector(at);
        c.offset = at;
        if (at >= start && at + kSectorBytes <= end) {
            const Entry mine = first | (at - start) >> log2 << 5;
            // The usual case: nobody in this launch has been here.
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
                plain_cell(c, s, uint32_t(i - at), uint32_t((i - start) >> log2));
    }
}

}  // namespace checks
