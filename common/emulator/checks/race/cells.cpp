// SPDX-License-Identifier: MIT
#include "checks/race/cells.h"

#include <algorithm>
#include <array>
#include <bit>

#include "checks/race/guesses.h"
#include "checks/race/history.h"

namespace checks {

using machine::AccessEvent;

template <AccessRole role>
inline void CellCheck::cell(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane) {
    if constexpr (role == AccessRole::kStore) {
        store_cell(c, s, byte, lane);
        return;
    }
    const Epoch writer = Shadow::writer_at(s, byte);
    if (writer >= c.floor && compare_.plain(c, writer, byte, lane) &&
        role >= AccessRole::kStrongLoad) {
        // A flag that is set by a plain store is the bug; accesses that the flag guards are not
        // reported.
        c.order.assume_ordered(segment_of(writer), lane_of(writer), c.warp, lane);
    }
    if constexpr (role == AccessRole::kStrongWrite) {
        if (s.has(Sector::kReaderCells) || s.reader >= c.floor)
            compare_with_readers(c, s, byte, lane);
        Pair& atomics = c.shadow.atomic_cell(s, byte);
        if (c.occurred.strong_store && c.allocation && c.event.kind == machine::AccessKind::kAtomic)
            compare_.observe(c, atomics.first, byte, lane);
        if (c.occurred.narrow) {
            compare_.scope(c, atomics.first, byte, lane);
            compare_.scope(c, atomics.second, byte, lane);
        }
        if (c.occurred.by_volatile && !compare_.volatiles(c, atomics.first, byte, lane, false))
            compare_.volatiles(c, atomics.second, byte, lane, false);
        if (c.event.kind == machine::AccessKind::kStore) compare_.update(c, s, atomics, byte, lane);
        const Segment segment = c.published >> lane & 1 ? (*c.warp.fenced_at)[lane] : c.segment;
        remember(c, s, atomics, cell_entry(segment, c.id, lane), byte, Sector::kMoreAtomics);
    } else {
        if (role == AccessRole::kStrongLoad && c.event.wrote_only_if_equal &&
            s.has(Sector::kReaderCells))
            for (const Epoch e :
                 {Shadow::readers_at(s, byte).first, Shadow::readers_at(s, byte).second})
                if (e >= c.floor && !c.instructions.strong(e)) note_guess(c, e, byte, lane);
        if (s.atomic_cells()) {
            if (role == AccessRole::kStrongLoad && c.allocation)
                compare_.observe(c, s.atomic_cells()[s.cell(byte)].first, byte, lane);
            compare_with_atomics(c, s, byte, lane);
        }
        remember_read(c, s, c.shadow.reader_cell(s, byte), cell_entry(c.segment, c.id, lane), byte);
    }
}

void CellCheck::compare_with_readers(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Pair p = Shadow::readers_at(s, byte);
    const bool strong_write = c.role == AccessRole::kStrongWrite;
    for (const Epoch e : {p.first, p.second}) {
        if (e < c.floor) continue;
        if (strong_write && !c.instructions.strong(e)) note_guess(c, e, byte, lane);
        if (strong_write && c.instructions.strong(e)) {
            if (c.occurred.narrow) compare_.scope(c, e, byte, lane);
            if (c.occurred.by_volatile && compare_.volatiles(c, e, byte, lane, true)) return;
        } else if (compare_.plain(c, e, byte, lane, true)) {
            return;
        }
    }
    if (s.has(Sector::kMoreReaders))
        compare_.spilled(c, byte, lane, Sector::kMoreReaders, strong_write);
}

// By a load.
void CellCheck::compare_with_atomics(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Pair p = s.atomic_cells()[s.cell(byte)];
    for (const Epoch e : {p.first, p.second}) {
        if (e < c.floor) continue;
        if (c.role == AccessRole::kStrongLoad && c.instructions.strong(e)) {
            if (c.occurred.narrow) compare_.scope(c, e, byte, lane);
            if (c.occurred.by_volatile && compare_.volatiles(c, e, byte, lane, false)) return;
        } else if (compare_.plain(c, e, byte, lane)) {
            return;
        }
    }
    if (c.role == AccessRole::kLoad && s.has(Sector::kMoreAtomics))
        compare_.spilled(c, byte, lane, Sector::kMoreAtomics, false);
}

// By a plain store. Whether the pair only holds stores of the same value; reports all others.
bool CellCheck::atomics_allow_store(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Pair p = s.atomic_cells()[s.cell(byte)];
    bool same_value = false;
    for (const Epoch e : {p.first, p.second}) {
        if (e < c.floor || unordered_lane(c, e, lane) == kNoLane) continue;
        // Perhaps a plain store that was moved here by another one of the same value, see
        // store_cell.
        if (!c.instructions.strong(e) && stores_what_is_there(c, e, byte, s.cell_bytes(), lane)) {
            same_value = true;
        } else {
            compare_.plain(c, e, byte, lane);
            return false;
        }
    }
    if (s.has(Sector::kMoreAtomics)) compare_.spilled(c, byte, lane, Sector::kMoreAtomics, false);
    return same_value;
}

void CellCheck::store_cell(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Epoch mine = cell_entry(c.segment, c.id, lane);
    const Epoch writer = Shadow::writer_at(s, byte);
    bool same_value = false;
    if (writer >= c.floor && unordered_lane(c, writer, lane) != kNoLane) {
        same_value = stores_what_is_there(c, writer, byte, s.cell_bytes(), lane);
        if (!same_value) compare_.plain(c, writer, byte, lane);
    }
    if (s.has(Sector::kReaderCells) || s.reader >= c.floor) compare_with_readers(c, s, byte, lane);
    const bool keep = s.atomic_cells() && atomics_allow_store(c, s, byte, lane);
    Epoch& slot = c.shadow.writer_cell(s, byte);
    // An access that races with one of those before also races with this store: they can be
    // removed.
    if (s.has(Sector::kReaderCells)) c.shadow.forget_readers(s, byte);
    if (s.atomic_cells() && !same_value && !keep) s.atomic_cells()[s.cell(byte)] = {};
    if (same_value) {
        if (segment_of(slot) == segment_of(mine) && instruction_of(slot) == c.id) {
            if (second_lane_of(slot) == lane_of(slot)) slot = with_second_lane(slot, lane);
            return;
        }
        // Both stores matter to the next reader; the older one moves to where there is room.
        const Epoch older = slot;
        Pair& aside = c.shadow.atomic_cell(s, byte);
        if (aside.first < c.floor || rank(c, aside.first, lane) <= rank(c, older, lane)) {
            aside.second = aside.first;
            aside.first = older;
        }
    }
    slot = mine;
}

// For addresses all over a large array, whose sectors and cells are not in the cache: prefetching
// all of them makes the misses overlap.
template <AccessRole role>
inline void CellCheck::fetch_ahead(AccessContext& c) {
    const uint64_t* a = c.event.address;
    const auto [low, high] = std::minmax({a[0], a[9], a[19], a[31]});
    if (high - low < 64 << 10) return;
    std::array<Sector*, machine::kWarpSize> sectors;
    for (uint32_t lane = 0; lane < machine::kWarpSize; ++lane) {
        sectors[lane] = &c.shadow.sector(a[lane] + c.shift);
        __builtin_prefetch(sectors[lane], 1);
    }
    for (uint32_t lane = 0; lane < machine::kWarpSize; ++lane) {
        const Sector& s = *sectors[lane];
        const uint32_t cell = s.cell(uint32_t(a[lane] + c.shift) % kSectorBytes);
        if (role == AccessRole::kStrongWrite) {
            if (s.atomic_cells()) __builtin_prefetch(s.atomic_cells() + cell, 1);
        } else if (role == AccessRole::kStore) {
            if (s.has(Sector::kWriterCells)) __builtin_prefetch(s.writer_cells() + cell, 1);
        } else if (s.has(Sector::kReaderCells)) {
            __builtin_prefetch(s.reader_cells() + cell, 1);
        }
    }
    asm volatile(
        "");  // otherwise GCC treats the function as one without effects and removes the call
}

// The smallest number of lanes after which the addresses repeat; 32: they do not.
inline uint32_t period_of(const uint64_t* a) {
    uint32_t period = machine::kWarpSize;
    while (period > 1) {
        const uint32_t half = period / 2;
        if (a[0] != a[half]) break;
        uint64_t differs = 0;
        for (uint32_t i = 0; i < half; ++i) differs |= a[i] ^ a[half + i];
        if (differs) break;
        period = half;
    }
    return period;
}

// Lanes that are not the first or second of a row of lanes at one address.
inline uint32_t third_lanes(const uint64_t* a) {
    uint32_t same = 0;
    for (uint32_t i = 1; i < machine::kWarpSize; ++i) same |= uint32_t(a[i] == a[i - 1]) << i;
    return same & same << 1;
}

template <AccessRole role>
void CellCheck::scattered(AccessContext& c, uint32_t lanes) {
    const AccessEvent& event = c.event;
    const uint32_t bytes = event.bytes;
    const bool can_skip = !c.partial && role != AccessRole::kStore;
    const bool can_hurry = !c.partial && !c.published && !c.occurred.narrow &&
                           !c.occurred.by_volatile &&
                           !(role == AccessRole::kStrongWrite && c.occurred.strong_store);
    // Built here, not for each lane: the compiler would spill the parts as 32 bits, reload them as
    // 64, and wait for the store each time.
    const Epoch of_lane_0 = cell_entry(c.segment, c.id, 0);
    if (lanes == machine::kAllLanes) fetch_ahead<role>(c);
    if (role == AccessRole::kLoad && lanes == machine::kAllLanes && can_skip && can_hurry &&
        bytes == 4 && event.address[0] == event.address[machine::kWarpSize / 2]) {
        // A row of a tile, read by each row of threads: two lanes for each word, and no third.
        const uint32_t period = period_of(event.address);
        lanes = 0;
        for (uint32_t lane = 0; lane < period; ++lane) {
            const uint64_t start = event.address[lane] + c.shift;
            const Epoch mine = entry_of_lane(of_lane_0, lane);
            if ((start & 3) == 0 && hurried<role>(c,
                                                  c.shadow.sector(start),
                                                  uint32_t(start & (kSectorBytes - 1)),
                                                  with_second_lane(mine, lane + period)))
                continue;
            for (uint32_t again = lane; again < machine::kWarpSize; again += period)
                lanes |= 1u << again;
        }
    }
    // Where only whole barriers order anything, the third lane at one address learns nothing that
    // the first two did not: any other access is ordered with both of them or with all.
    uint32_t skipped = can_skip && lanes == machine::kAllLanes ? third_lanes(event.address) : 0;
    uint64_t before = ~uint64_t(0), before_that = ~uint64_t(1);
    uint32_t m = lanes & ~skipped, lane = 0;
    while (true) {
        if (c.races && skipped) {  // from now on all count
            m |= skipped & ~1u << lane;
            skipped = 0;
        }
        if (!m) break;
        lane = uint32_t(std::countr_zero(m));
        m &= m - 1;
        const uint64_t start = event.address[lane] + c.shift;
        if (can_skip && start == before && start == before_that && !c.races) continue;
        before_that = before;
        before = start;
        if (bytes == 4 && (start & 3) == 0) {
            Sector& s = c.shadow.sector(start);
            const uint32_t byte = uint32_t(start & (kSectorBytes - 1));
            if (role != AccessRole::kStore && can_hurry &&
                hurried<role>(c, s, byte, entry_of_lane(of_lane_0, lane)))
                continue;
            c.offset = start - byte;
            if (!s.has(Sector::kByteCells)) c.shadow.prepare_words(s);
            const uint32_t step = s.cell_bytes();
            for (uint32_t i = 0; i < 4; i += step) cell<role>(c, s, byte + i, lane);
            continue;
        }
        const uint64_t end = start + bytes;
        const bool words = ((start | bytes) & 3) == 0;
        for (uint64_t at = start; at < end;) {
            Sector& s = c.shadow.sector(at);
            if (words) {
                c.shadow.prepare_words(s);
            } else {
                c.shadow.use_byte_cells(s);
            }
            c.offset = at & ~uint64_t(kSectorBytes - 1);
            const uint64_t stop = std::min(end, c.offset + kSectorBytes);
            for (; at < stop; at += s.cell_bytes()) cell<role>(c, s, uint32_t(at - c.offset), lane);
        }
    }
}

// The fast path for a word: one role has cells, entries of the others are older than the launch or
// ordered before the whole warp, and remember_quickly() applies. These are most accesses of
// gathers, histograms and tiles in shared memory. False: nothing was done.
template <AccessRole role>
inline bool CellCheck::hurried(AccessContext& c, Sector& s, uint32_t byte, Epoch mine) const {
    if constexpr (role == AccessRole::kLoad) {
        if ((s.rest & ~uint64_t(Sector::kWriterCells)) != Sector::kReaderCells) {
            // The first word that is read since a store removed the readers, or in this launch.
            if (s.rest & ~uint64_t(Sector::kWriterCells) || s.reader >= c.floor ||
                s.reader2 >= c.floor || (s.rest == 0 && needs_bytes(s.writer)))
                return false;
            c.shadow.clear_readers(s);
            c.shadow.reader_cell(s, byte);
        }
        const Epoch writer = s.has(Sector::kWriterCells) ? s.writer_cells()[byte >> 2] : s.writer;
        if (writer >= c.ordered_floor && segment_of(writer) != c.ordered_writer) {
            if (!c.order.ordered_for_all(segment_of(writer), c.warp)) return false;
            c.ordered_writer = segment_of(writer);  // neighbours were written together
        }
        return remember_quickly(c, s.reader_cells()[byte >> 2], mine);
    }
    if constexpr (role == AccessRole::kStrongWrite) {
        return s.writer < c.floor && s.rest && s.flags() == 0 && s.reader < c.floor &&
               remember_quickly(c, s.atomic_cells()[byte >> 2], mine);
    }
    return false;
}

void CellCheck::scattered(AccessContext& c, uint32_t lanes) {
    switch (c.role) {
    case AccessRole::kLoad:
        scattered<AccessRole::kLoad>(c, lanes);
        break;
    case AccessRole::kStore:
        scattered<AccessRole::kStore>(c, lanes);
        break;
    case AccessRole::kStrongLoad:
        scattered<AccessRole::kStrongLoad>(c, lanes);
        break;
    case AccessRole::kStrongWrite:
        scattered<AccessRole::kStrongWrite>(c, lanes);
        break;
    }
}

void CellCheck::plain_cell(AccessContext& c, Sector& s, uint32_t byte, uint32_t lane) {
    if (c.role == AccessRole::kLoad) {
        cell<AccessRole::kLoad>(c, s, byte, lane);
    } else {
        cell<AccessRole::kStore>(c, s, byte, lane);
    }
}

}  // namespace checks
