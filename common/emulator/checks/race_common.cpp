// SPDX-License-Identifier: MIT
// One access against the shadow: whole sectors first, single cells where that does not decide.
#include "checks/race_common.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "checks/race_context.h"

namespace checks {

using machine::AccessEvent;
using machine::AccessKind;

AccessTraits traits_of(const AccessEvent& event) {
    AccessTraits t;
    t.known = true;
    t.strong = is_strong(event);
    t.writes = event.kind != AccessKind::kLoad;
    t.atomic = event.kind >= AccessKind::kAtomic;
    t.block_scope = event.scope == machine::Scope::kCta || event.scope == machine::Scope::kCluster;
    return t;
}

// The usual cases of remember_more().
inline void RaceDetector::remember(Context& c, Sector& s, Pair& pair, Entry mine, uint32_t byte,
                                   Sector::Flag more) {
    if (pair.first < c.floor) {
        pair.first = mine;
        if (pair.second < c.floor) pair.second = 0;
        return;
    }
    if ((pair.first ^ mine) < 1024) {  // the same instruction in the same segment
        if (second_lane_of(pair.first) != lane_of(pair.first)) return;
        if (lane_of(pair.first) != lane_of(mine)) pair.first = with_second_lane(pair.first, lane_of(mine));
        return;
    }
    if (!c.partial && pair.second >= c.floor && pair.second < c.block_first) {
        pair.first = mine;  // and the second, of another block, stays
        return;
    }
    remember_more(c, s, pair, mine, byte, more);
}

// A strong load conflicts with less than a plain one, so it never takes a plain one's place.
inline void RaceDetector::remember_read(Context& c, Sector& s, Pair& pair, Entry mine, uint32_t byte) {
    if (c.role == Role::kStrongLoad && pair.first >= c.floor && !strong(pair.first)) {
        if (pair.second < c.floor || strong(pair.second)) {
            pair.second = mine;
        } else if (c.partial) {
            spill(c, s, byte, false, mine, Sector::kMoreReaders);
        }
        return;
    }
    remember(c, s, pair, mine, byte, Sector::kMoreReaders);
}

// ---- whole sectors: false when only a look at the cells can tell, or race it is

bool RaceDetector::pattern_ordered(const Context& c, Entry e, Entry mine) const {
    if (e < c.floor) return true;
    const Segment segment = segment_of(e);
    if (segment >= order_.launch_first() && order_.warp_of(segment) == c.warp.number)
        return segment < c.warp.floor || (e & 1023) == (mine & 1023);
    return order_.ordered_for_all(segment, c.warp);
}

bool RaceDetector::writers_ordered(Context& c, Sector& s, Entry mine) {
    const uint32_t cells = s.cells(), bytes = s.cell_bytes();
    const auto ordered = [&](Entry e, uint32_t i) {
        return e < c.floor || unordered_lane(c, e, lane_of(cell_of_pattern(mine, i * bytes))) == kNobody;
    };
    if (s.has(Sector::kWriterCells)) {
        if (bytes == 4 && (mine & 7) < 2) return false;
        const Entry* writer = s.writer_cells();
        for (uint32_t i = 0; i < cells; ++i)
            if (!ordered(writer[i], i)) return false;
    } else if (!pattern_ordered(c, s.writer, mine)) {
        return false;
    }
    if (s.has(Sector::kMoreAtomics) && !spilled_ordered(c, s, mine, Sector::kMoreAtomics)) return false;
    if (s.atomic_cells()) {
        if (bytes == 4 && (mine & 7) < 2) return false;
        const Pair* atomics = s.atomic_cells();
        for (uint32_t i = 0; i < cells; ++i)
            if (!ordered(atomics[i].first, i) || !ordered(atomics[i].second, i)) return false;
    }
    return true;
}

bool RaceDetector::readers_ordered(Context& c, Sector& s, Entry mine) {
    if (s.has(Sector::kMoreReaders) && !spilled_ordered(c, s, mine, Sector::kMoreReaders)) return false;
    if (!s.has(Sector::kReaderCells))
        return pattern_ordered(c, s.reader, mine) && pattern_ordered(c, s.reader2, mine);
    const uint32_t cells = s.cells(), bytes = s.cell_bytes();
    if (bytes == 4 && (mine & 7) < 2) return false;
    const Pair* readers = s.reader_cells();
    for (uint32_t i = 0; i < cells; ++i) {
        const uint32_t lane = lane_of(cell_of_pattern(mine, i * bytes));
        for (const Entry e : {readers[i].first, readers[i].second})
            if (e >= c.floor && unordered_lane(c, e, lane) != kNobody) return false;
    }
    return true;
}

bool RaceDetector::load_sector(Context& c, Sector& s, Entry mine) {
    const bool ordered = s.rest == 0 && s.writer < c.floor;
    if (!ordered && !writers_ordered(c, s, mine)) return false;
    if (!s.has(Sector::kReaderCells)) {
        if (s.reader >= c.floor) return remember_pattern(c, s, mine);
        s.reader = mine;
        s.reader2 = 0;
        return true;
    }
    const uint32_t bytes = s.cell_bytes();
    if (bytes == 4 && (mine & 7) < 2) return false;
    Pair* readers = s.reader_cells();
    for (uint32_t i = 0; i < s.cells(); ++i)
        remember_read(c, s, readers[i], cell_of_pattern(mine, i * bytes), i * bytes);
    return true;
}

bool RaceDetector::store_sector(Context& c, Sector& s, Entry mine) {
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
    if (!c.partial && s.reader2 >= c.floor && s.reader2 < c.block_first) {
        s.reader = mine;  // and reader2, of another block, stays
        return true;
    }
    const uint32_t first = pattern_rank(c, s.reader, mine);
    if (first == 1) return false;  // other lanes of this warp: keep count cell by cell
    const uint32_t second = s.reader2 < c.floor ? 0 : pattern_rank(c, s.reader2, mine);
    if (c.partial && first && second)
        spill(c, s, 0, true, first >= second ? s.reader2 : s.reader, Sector::kMoreReaders);
    s.reader2 = first | second ? (first >= second ? s.reader : s.reader2) : 0;
    s.reader = mine;
    return true;
}

uint32_t RaceDetector::pattern_rank(const Context& c, Entry e, Entry mine) const {
    if (pattern_ordered(c, e, mine)) return 0;
    const Segment segment = segment_of(e);
    if (segment < order_.launch_first()) return 3;
    const uint32_t warp = order_.warp_of(segment);
    return warp == c.warp.number ? 1 : order_.same_block(warp, c.warp) ? 2 : 3;
}

// ---- cells

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
        if (s.has(Sector::kReaderCells) || s.reader >= c.floor) compare_with_readers(c, s, byte, lane);
        Pair& atomics = c.shadow.atomic_cell(s, byte);
        if (narrow_seen_) {
            compare_scope(c, atomics.first, byte, lane);
            compare_scope(c, atomics.second, byte, lane);
        }
        const Segment segment = c.published >> lane & 1 ? (*c.warp.fenced_at)[lane] : c.segment;
        remember(c, s, atomics, cell_entry(segment, c.event.site, lane), byte, Sector::kMoreAtomics);
    } else {
        if (s.atomic_cells()) compare_with_atomics(c, s, byte, lane);
        remember_read(c, s, c.shadow.reader_cell(s, byte), cell_entry(c.segment, c.event.site, lane),
                      byte);
    }
}

void RaceDetector::compare_with_readers(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Pair p = Shadow::readers_at(s, byte);
    const bool strong_write = c.role == Role::kStrongWrite;
    for (const Entry e : {p.first, p.second}) {
        if (e < c.floor) continue;
        if (strong_write && strong(e)) {
            if (narrow_seen_) compare_scope(c, e, byte, lane);
        } else if (compare(c, e, byte, lane)) {
            return;
        }
    }
    if (s.has(Sector::kMoreReaders)) compare_spilled(c, byte, lane, Sector::kMoreReaders, strong_write);
}

// By a load.
void RaceDetector::compare_with_atomics(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Pair p = s.atomic_cells()[s.cell(byte)];
    for (const Entry e : {p.first, p.second}) {
        if (e < c.floor) continue;
        if (c.role == Role::kStrongLoad && strong(e)) {
            if (narrow_seen_) compare_scope(c, e, byte, lane);
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
    const Entry mine = cell_entry(c.segment, c.event.site, lane);
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
    if (s.has(Sector::kReaderCells)) s.reader_cells()[s.cell(byte)] = {};
    if (s.atomic_cells() && !same_value && !keep) s.atomic_cells()[s.cell(byte)] = {};
    if (same_value) {
        if (segment_of(slot) == segment_of(mine) && instruction_of(slot) == c.event.site) {
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

// ---- whole accesses

void RaceDetector::contiguous(Context& c) {
    const AccessEvent& event = c.event;
    const bool load = c.role == Role::kLoad;
    const uint32_t log2 = uint32_t(std::countr_zero(event.bytes));
    const uint64_t start = event.address[0] + c.shift, end = start + 32u * event.bytes;
    const Entry whole = pattern_entry(c.segment, event.site, 0, log2);
    for (uint64_t at = start & ~uint64_t(kSectorBytes - 1); at < end; at += kSectorBytes) {
        Sector& s = c.shadow.sector(at);
        c.offset = at;
        if (at >= start && at + kSectorBytes <= end) {
            const Entry mine = whole | (at - start) >> log2 << 5;
            // The usual case: nobody in this launch has been here, or only for reading.
            if (s.rest == 0 && s.writer < c.floor && s.reader < c.floor) {
                (load ? s.reader : s.writer) = mine;
                continue;
            }
            if (load ? load_sector(c, s, mine) : store_sector(c, s, mine)) continue;
        }
        if (log2 < 2) c.shadow.use_byte_cells(s);
        const uint64_t low = std::max(at, start), high = std::min(at + kSectorBytes, end);
        // A cell that a split of patterns turns into bytes on the way changes the step.
        for (uint64_t i = low; i < high; i += s.cell_bytes()) {
            const uint32_t byte = uint32_t(i - at), lane = uint32_t((i - start) >> log2);
            if (load) {
                cell<Role::kLoad>(c, s, byte, lane);
            } else {
                cell<Role::kStore>(c, s, byte, lane);
            }
        }
    }
}

template <RaceDetector::Role role>
void RaceDetector::scattered(Context& c, uint32_t lanes) {
    const AccessEvent& event = c.event;
    const uint32_t bytes = event.bytes;
    const bool can_skip = !c.partial && role != Role::kStore;
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
            c.offset = start & ~uint64_t(kSectorBytes - 1);
            if (!s.has(Sector::kByteCells)) {
                const uint32_t byte = uint32_t(start - c.offset);
                cell<role>(c, s, byte, lane);
                if (s.has(Sector::kByteCells))  // since just now
                    for (uint32_t i = 1; i < 4; ++i) cell<role>(c, s, byte + i, lane);
                continue;
            }
        }
        const uint64_t end = start + bytes;
        const bool words = ((start | bytes) & 3) == 0;
        for (uint64_t at = start; at < end;) {
            Sector& s = c.shadow.sector(at);
            if (!words) c.shadow.use_byte_cells(s);
            c.offset = at & ~uint64_t(kSectorBytes - 1);
            const uint64_t stop = std::min(end, c.offset + kSectorBytes);
            for (; at < stop; at += s.cell_bytes()) cell<role>(c, s, uint32_t(at - c.offset), lane);
        }
    }
}

void RaceDetector::access(const AccessEvent& event, uint32_t lanes, uint32_t published,
                          const machine::Allocation* allocation, Shadow& shadow, uint64_t shift) {
    WarpOrder& w = order_.warp(*event.warp);
    w.used = true;
    if (event.site >= traits_.size()) traits_.resize(event.site + 256);
    if (!traits_[event.site].known) {
        traits_[event.site] = traits_of(event);
        narrow_seen_ |= traits_[event.site].strong && traits_[event.site].block_scope &&
                        event.space == ptx::Space::kGlobal;
    }
    const bool is_load = event.kind == AccessKind::kLoad;
    Context c{event, w, shadow, shift, allocation};
    c.role = is_strong(event) ? (is_load ? Role::kStrongLoad : Role::kStrongWrite)
                              : (is_load ? Role::kLoad : Role::kStore);
    c.floor = entry_floor(order_.ordered_before());
    c.block_first = entry_floor(w.block->first_segment);
    c.segment = w.segment;
    c.partial = order_.partial();
    c.published = published;
    if (event.contiguous && c.role <= Role::kStore && lanes == machine::kAllLanes &&
        event.address[0] % event.bytes == 0) {
        contiguous(c);
    } else {
        switch (c.role) {
        case Role::kLoad: scattered<Role::kLoad>(c, lanes); break;
        case Role::kStore: scattered<Role::kStore>(c, lanes); break;
        case Role::kStrongLoad: scattered<Role::kStrongLoad>(c, lanes); break;
        case Role::kStrongWrite: scattered<Role::kStrongWrite>(c, lanes); break;
        }
    }
    if (c.races) flush(c);
    w.steps.note(event.site, c.segment);
}

}  // namespace checks
