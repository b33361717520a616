// SPDX-License-Identifier: MIT
// One access against the shadow, cell by cell: scattered addresses, atomics, and what whole sectors
// could not decide.
#include <algorithm>
#include <array>
#include <bit>

#include "checks/race_context.h"

namespace checks {

using machine::AccessEvent;

template <RaceDetector::Role role>
inline void RaceDetector::cell(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    if constexpr (role == Role::kStore) {
        store_cell(c, s, byte, lane);
        return;
    }
    const Entry writer = Shadow::writer_at(s, byte);
    if (writer >= c.floor && compare(c, writer, byte, lane) && role >= Role::kStrongLoad) {
        // A flag raised by a plain store: that is the bug; what the flag guards is not another one.
        order_.assume_ordered(segment_of(writer), lane_of(writer), c.warp, lane);
    }
    if constexpr (role == Role::kStrongWrite) {
        if (s.has(Sector::kReaderCells) || s.reader >= c.floor)
            compare_with_readers(c, s, byte, lane);
        Pair& atomics = c.shadow.atomic_cell(s, byte);
        if (strong_store_seen_ && c.allocation && c.event.kind == machine::AccessKind::kAtomic)
            observe(c, atomics.first, byte, lane);
        if (narrow_seen_) {
            compare_scope(c, atomics.first, byte, lane);
            compare_scope(c, atomics.second, byte, lane);
        }
        if (volatile_seen_ && !compare_volatile(c, atomics.first, byte, lane, false))
            compare_volatile(c, atomics.second, byte, lane, false);
        if (c.event.kind == machine::AccessKind::kStore) compare_update(c, s, atomics, byte, lane);
        const Segment segment = c.published >> lane & 1 ? (*c.warp.fenced_at)[lane] : c.segment;
        remember(c, s, atomics, cell_entry(segment, c.id, lane), byte, Sector::kMoreAtomics);
    } else {
        if (role == Role::kStrongLoad && c.event.wrote_only_if_equal && s.has(Sector::kReaderCells))
            for (const Entry e :
                 {Shadow::readers_at(s, byte).first, Shadow::readers_at(s, byte).second})
                if (e >= c.floor && !strong(e)) note_guess(c, e, byte, lane);
        if (s.atomic_cells()) {
            if (role == Role::kStrongLoad && c.allocation)
                observe(c, s.atomic_cells()[s.cell(byte)].first, byte, lane);
            compare_with_atomics(c, s, byte, lane);
        }
        remember_read(c, s, c.shadow.reader_cell(s, byte), cell_entry(c.segment, c.id, lane), byte);
    }
}

void RaceDetector::compare_with_readers(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Pair p = Shadow::readers_at(s, byte);
    const bool strong_write = c.role == Role::kStrongWrite;
    for (const Entry e : {p.first, p.second}) {
        if (e < c.floor) continue;
        if (strong_write && !strong(e)) note_guess(c, e, byte, lane);
        if (strong_write && strong(e)) {
            if (narrow_seen_) compare_scope(c, e, byte, lane);
            if (volatile_seen_ && compare_volatile(c, e, byte, lane, true)) return;
        } else if (compare(c, e, byte, lane, true)) {
            return;
        }
    }
    if (s.has(Sector::kMoreReaders))
        compare_spilled(c, byte, lane, Sector::kMoreReaders, strong_write);
}

// By a load.
void RaceDetector::compare_with_atomics(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Pair p = s.atomic_cells()[s.cell(byte)];
    for (const Entry e : {p.first, p.second}) {
        if (e < c.floor) continue;
        if (c.role == Role::kStrongLoad && strong(e)) {
            if (narrow_seen_) compare_scope(c, e, byte, lane);
            if (volatile_seen_ && compare_volatile(c, e, byte, lane, false)) return;
        } else if (compare(c, e, byte, lane)) {
            return;
        }
    }
    if (c.role == Role::kLoad && s.has(Sector::kMoreAtomics))
        compare_spilled(c, byte, lane, Sector::kMoreAtomics, false);
}

// By a plain store. Whether the pair only holds what stored the same value; reports what else.
bool RaceDetector::atomics_allow_store(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Pair p = s.atomic_cells()[s.cell(byte)];
    bool same_value = false;
    for (const Entry e : {p.first, p.second}) {
        if (e < c.floor || unordered_lane(c, e, lane) == kNobody) continue;
        // Perhaps a plain store that another one of the same value pushed aside, see store_cell.
        if (!strong(e) && stores_what_is_there(c, e, byte, s.cell_bytes(), lane)) {
            same_value = true;
        } else {
            compare(c, e, byte, lane);
            return false;
        }
    }
    if (s.has(Sector::kMoreAtomics)) compare_spilled(c, byte, lane, Sector::kMoreAtomics, false);
    return same_value;
}

void RaceDetector::store_cell(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Entry mine = cell_entry(c.segment, c.id, lane);
    const Entry writer = Shadow::writer_at(s, byte);
    bool same_value = false;
    if (writer >= c.floor && unordered_lane(c, writer, lane) != kNobody) {
        same_value = stores_what_is_there(c, writer, byte, s.cell_bytes(), lane);
        if (!same_value) compare(c, writer, byte, lane);
    }
    if (s.has(Sector::kReaderCells) || s.reader >= c.floor) compare_with_readers(c, s, byte, lane);
    const bool keep = s.atomic_cells() && atomics_allow_store(c, s, byte, lane);
    Entry& slot = c.shadow.writer_cell(s, byte);
    // Whoever races with those before also races with this store: they can be forgotten.
    if (s.has(Sector::kReaderCells)) c.shadow.forget_readers(s, byte);
    if (s.atomic_cells() && !same_value && !keep) s.atomic_cells()[s.cell(byte)] = {};
    if (same_value) {
        if (segment_of(slot) == segment_of(mine) && instruction_of(slot) == c.id) {
            if (second_lane_of(slot) == lane_of(slot)) slot = with_second_lane(slot, lane);
            return;
        }
        // Both stores matter to whoever reads next; the older one moves to where there is room.
        const Entry older = slot;
        Pair& aside = c.shadow.atomic_cell(s, byte);
        if (aside.first < c.floor || rank(c, aside.first, lane) <= rank(c, older, lane)) {
            aside.second = aside.first;
            aside.first = older;
        }
    }
    slot = mine;
}

// Addresses all over a large array: their sectors and cells are not in the cache. Asking for all of
// them before the first is needed makes the misses overlap.
template <RaceDetector::Role role>
inline void RaceDetector::fetch_ahead(Context& c) {
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
        if (role == Role::kStrongWrite) {
            if (s.atomic_cells()) __builtin_prefetch(s.atomic_cells() + cell, 1);
        } else if (role == Role::kStore) {
            if (s.has(Sector::kWriterCells)) __builtin_prefetch(s.writer_cells() + cell, 1);
        } else if (s.has(Sector::kReaderCells)) {
            __builtin_prefetch(s.reader_cells() + cell, 1);
        }
    }
    asm volatile("");  // else GCC takes the function for one without effects, and drops the call
}

// The fewest lanes after which the addresses come again; 32: they do not.
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

template <RaceDetector::Role role>
void RaceDetector::scattered(Context& c, uint32_t lanes) {
    const AccessEvent& event = c.event;
    const uint32_t bytes = event.bytes;
    const bool can_skip = !c.partial && role != Role::kStore;
    const bool can_hurry = !c.partial && !c.published && !narrow_seen_ && !volatile_seen_ &&
                           !(role == Role::kStrongWrite && strong_store_seen_);
    if (lanes == machine::kAllLanes) fetch_ahead<role>(c);
    if (role == Role::kLoad && lanes == machine::kAllLanes && can_skip && can_hurry && bytes == 4 &&
        event.address[0] == event.address[machine::kWarpSize / 2]) {
        // A row of a tile, read by each row of threads: two lanes for each word, and no third.
        const uint32_t period = period_of(event.address);
        lanes = 0;
        for (uint32_t lane = 0; lane < period; ++lane) {
            const uint64_t start = event.address[lane] + c.shift;
            const Entry mine = cell_entry(c.segment, c.id, lane);
            if ((start & 3) == 0 && hurried<role>(c,
                                                  c.shadow.sector(start),
                                                  uint32_t(start & (kSectorBytes - 1)),
                                                  with_second_lane(mine, lane + period)))
                continue;
            for (uint32_t again = lane; again < machine::kWarpSize; again += period)
                lanes |= 1u << again;
        }
    }
    uint64_t before = ~uint64_t(0), before_that = ~uint64_t(1);
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const uint64_t start = event.address[lane] + c.shift;
        // Where only whole barriers order anything, the third lane at one address learns nothing
        // that the first two did not: any other access is ordered with both of them or with all.
        if (can_skip && start == before && start == before_that && !c.races) continue;
        before_that = before;
        before = start;
        if (bytes == 4 && (start & 3) == 0) {
            Sector& s = c.shadow.sector(start);
            const uint32_t byte = uint32_t(start & (kSectorBytes - 1));
            if (role != Role::kStore && can_hurry &&
                hurried<role>(c, s, byte, cell_entry(c.segment, c.id, lane)))
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

// A word where one role has cells, the others are older than the launch or their writes are ordered
// before the whole warp, and memory of this access is kept by a simple rule: the bulk of gathers,
// of histograms and of tiles in shared memory. False: nothing was done.
template <RaceDetector::Role role>
inline bool RaceDetector::hurried(Context& c, Sector& s, uint32_t byte, Entry mine) const {
    if constexpr (role == Role::kLoad) {
        if ((s.rest & ~uint64_t(Sector::kWriterCells)) != Sector::kReaderCells) return false;
        const Entry writer = s.has(Sector::kWriterCells) ? s.writer_cells()[byte >> 2] : s.writer;
        if (writer >= c.floor && segment_of(writer) != c.ordered_writer) {
            if (!order_.ordered_for_all(segment_of(writer), c.warp)) return false;
            c.ordered_writer = segment_of(writer);  // neighbours were written together
        }
        return remember_quickly(c, s.reader_cells()[byte >> 2], mine);
    }
    if constexpr (role == Role::kStrongWrite) {
        return s.writer < c.floor && s.rest && s.flags() == 0 && s.reader < c.floor &&
               remember_quickly(c, s.atomic_cells()[byte >> 2], mine);
    }
    return false;
}

void RaceDetector::scattered(Context& c, uint32_t lanes) {
    switch (c.role) {
    case Role::kLoad:
        scattered<Role::kLoad>(c, lanes);
        break;
    case Role::kStore:
        scattered<Role::kStore>(c, lanes);
        break;
    case Role::kStrongLoad:
        scattered<Role::kStrongLoad>(c, lanes);
        break;
    case Role::kStrongWrite:
        scattered<Role::kStrongWrite>(c, lanes);
        break;
    }
}

void RaceDetector::plain_cell(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    if (c.role == Role::kLoad) {
        cell<Role::kLoad>(c, s, byte, lane);
    } else {
        cell<Role::kStore>(c, s, byte, lane);
    }
}

}  // namespace checks
