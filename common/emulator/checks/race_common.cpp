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

void RaceDetector::access(const AccessEvent& event, uint32_t lanes, uint32_t published,
                          const machine::Allocation* allocation, Shadow& shadow, uint64_t shift) {
    WarpOrder& w = order_.warp(*event.warp);
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
    const bool in_order = event.contiguous && c.role <= Role::kStore && lanes == machine::kAllLanes &&
                          event.address[0] % event.bytes == 0;
    if (in_order) {
        contiguous(c);
    } else {
        scattered(c, lanes);
    }
    if (c.races) flush(c);
}

void RaceDetector::contiguous(Context& c) {
    const AccessEvent& event = c.event;
    const uint32_t log2 = uint32_t(std::countr_zero(event.bytes));
    const uint64_t start = event.address[0] + c.shift, end = start + 32u * event.bytes;
    for (uint64_t at = start & ~uint64_t(kSectorBytes - 1); at < end; at += kSectorBytes) {
        Sector& s = c.shadow.sector(at);
        const uint64_t low = std::max(at, start), high = std::min(at + kSectorBytes, end);
        if (high - low == kSectorBytes) {
            const Entry mine =
                pattern_entry(c.segment, event.site, uint32_t((at - start) >> log2), log2);
            c.offset = at;
            if (c.role == Role::kLoad ? load_sector(c, s, mine) : store_sector(c, s, mine)) continue;
        }
        if (log2 < 2) c.shadow.use_byte_cells(s);
        c.offset = at;
        const uint32_t step = Shadow::cell_bytes(s);
        for (uint64_t i = low; i < high; i += step)
            cell(c, s, uint32_t(i - at), uint32_t((i - start) >> log2));
    }
}

void RaceDetector::scattered(Context& c, uint32_t lanes) {
    const AccessEvent& event = c.event;
    const bool can_skip = !c.partial && c.role != Role::kStore;
    uint64_t before = ~uint64_t(0), before_that = ~uint64_t(1);
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const uint64_t start = event.address[lane] + c.shift, end = start + event.bytes;
        // Where only whole barriers order anything, the third lane at one address learns nothing
        // that the first two did not: any other access is ordered with both of them or with all.
        if (can_skip && start == before && start == before_that && !c.races) continue;
        before_that = before;
        before = start;
        const bool words = ((start | event.bytes) & 3) == 0;
        for (uint64_t at = start; at < end;) {
            Sector& s = c.shadow.sector(at);
            if (!words && !(s.flags & Sector::kByteCells)) c.shadow.use_byte_cells(s);
            c.offset = at & ~uint64_t(kSectorBytes - 1);
            const uint64_t stop = std::min(end, c.offset + kSectorBytes);
            for (const uint32_t step = Shadow::cell_bytes(s); at < stop; at += step)
                cell(c, s, uint32_t(at - c.offset), lane);
        }
    }
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
    const uint32_t cells = Shadow::cell_count(s), bytes = Shadow::cell_bytes(s);
    const auto ordered = [&](Entry e, uint32_t i) {
        return e < c.floor || unordered_lane(c, e, lane_of(cell_of_pattern(mine, i * bytes))) == kNobody;
    };
    if (s.flags & Sector::kWriterCells) {
        if (bytes == 4 && (mine & 7) < 2) return false;
        const Entry* writer = c.shadow.writer_cells(s);
        for (uint32_t i = 0; i < cells; ++i)
            if (!ordered(writer[i], i)) return false;
    } else if (!pattern_ordered(c, s.writer, mine)) {
        return false;
    }
    if (s.flags & Sector::kMoreAtomics && !spilled_ordered(c, s, mine, Sector::kMoreAtomics)) return false;
    if (s.atomics) {
        if (bytes == 4 && (mine & 7) < 2) return false;
        const Pair* atomics = c.shadow.atomic_cells(s);
        for (uint32_t i = 0; i < cells; ++i)
            if (!ordered(atomics[i].first, i) || !ordered(atomics[i].second, i)) return false;
    }
    return true;
}

bool RaceDetector::readers_ordered(Context& c, Sector& s, Entry mine) {
    if (s.flags & Sector::kMoreReaders && !spilled_ordered(c, s, mine, Sector::kMoreReaders)) return false;
    if (!(s.flags & Sector::kReaderCells))
        return pattern_ordered(c, s.reader, mine) && pattern_ordered(c, s.reader2, mine);
    const uint32_t cells = Shadow::cell_count(s), bytes = Shadow::cell_bytes(s);
    if (bytes == 4 && (mine & 7) < 2) return false;
    const Pair* readers = c.shadow.reader_cells(s);
    for (uint32_t i = 0; i < cells; ++i) {
        const uint32_t lane = lane_of(cell_of_pattern(mine, i * bytes));
        for (const Entry e : {readers[i].first, readers[i].second})
            if (e >= c.floor && unordered_lane(c, e, lane) != kNobody) return false;
    }
    return true;
}

bool RaceDetector::load_sector(Context& c, Sector& s, Entry mine) {
    const bool plain_patterns = (s.flags | s.atomics) == 0;
    if (!(plain_patterns && s.writer < c.floor) && !writers_ordered(c, s, mine)) return false;
    if (!(s.flags & Sector::kReaderCells)) {
        if (s.reader >= c.floor) return remember_pattern(c, s, mine);
        s.reader = mine;
        s.reader2 = 0;
        return true;
    }
    const uint32_t bytes = Shadow::cell_bytes(s);
    if (bytes == 4 && (mine & 7) < 2) return false;
    Pair* readers = c.shadow.reader_cells(s);
    for (uint32_t i = 0; i < Shadow::cell_count(s); ++i)
        remember_read(c, s, readers[i], cell_of_pattern(mine, i * bytes), i * bytes);
    return true;
}

bool RaceDetector::store_sector(Context& c, Sector& s, Entry mine) {
    if ((s.flags | s.atomics) == 0 && std::max({s.writer, s.reader, s.reader2}) < c.floor) {
        s.writer = mine;
        return true;
    }
    if (!writers_ordered(c, s, mine) || !readers_ordered(c, s, mine)) return false;
    // Whoever races with one of those before also races with this store: they can be forgotten.
    c.shadow.clear_writer(s);
    c.shadow.clear_readers(s);
    c.shadow.clear_atomics(s);
    s.flags = 0;
    s.writer = mine;
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

void RaceDetector::cell(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    switch (c.role) {
    case Role::kLoad: load_cell(c, s, byte, lane); break;
    case Role::kStore: store_cell(c, s, byte, lane); break;
    case Role::kStrongLoad: strong_load_cell(c, s, byte, lane); break;
    case Role::kStrongWrite: strong_write_cell(c, s, byte, lane); break;
    }
}

void RaceDetector::load_cell(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Entry writer = c.shadow.writer_at(s, byte);
    if (writer >= c.floor) compare(c, writer, byte, lane);
    if (s.atomics) {
        const Pair p = c.shadow.atomic_cell(s, byte);
        if (p.first >= c.floor && !compare(c, p.first, byte, lane) && p.second >= c.floor)
            compare(c, p.second, byte, lane);
        if (s.flags & Sector::kMoreAtomics) compare_spilled(c, byte, lane, Sector::kMoreAtomics, false);
    }
    remember_read(c, s, c.shadow.reader_cell(s, byte), cell_entry(c.segment, c.event.site, lane), byte);
}

void RaceDetector::strong_load_cell(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Entry writer = c.shadow.writer_at(s, byte);
    if (writer >= c.floor && compare(c, writer, byte, lane)) {
        // A flag raised by a plain store: that is the bug; what the flag guards is not another one.
        order_.assume_ordered(segment_of(writer), lane_of(writer), c.warp, lane);
    }
    if (s.atomics && narrow_seen_) {
        const Pair p = c.shadow.atomic_cell(s, byte);
        compare_scope(c, p.first, byte, lane);
        compare_scope(c, p.second, byte, lane);
    }
    remember_read(c, s, c.shadow.reader_cell(s, byte), cell_entry(c.segment, c.event.site, lane), byte);
}

void RaceDetector::strong_write_cell(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const Entry writer = c.shadow.writer_at(s, byte);
    if (writer >= c.floor) compare(c, writer, byte, lane);
    if (s.reader >= c.floor || s.flags & Sector::kReaderCells) {
        const Pair p = c.shadow.readers_at(s, byte);
        for (const Entry e : {p.first, p.second}) {
            if (e < c.floor) continue;
            if (strong(e)) {
                if (narrow_seen_) compare_scope(c, e, byte, lane);
            } else if (compare(c, e, byte, lane)) {
                break;
            }
        }
        if (s.flags & Sector::kMoreReaders) compare_spilled(c, byte, lane, Sector::kMoreReaders, true);
    }
    Pair& atomics = c.shadow.atomic_cell(s, byte);
    if (narrow_seen_) {
        compare_scope(c, atomics.first, byte, lane);
        compare_scope(c, atomics.second, byte, lane);
    }
    const Segment segment =
        c.published >> lane & 1 ? (*c.warp.fenced_at)[lane] : c.segment;
    remember(c, s, atomics, cell_entry(segment, c.event.site, lane), byte, Sector::kMoreAtomics);
}

void RaceDetector::store_cell(Context& c, Sector& s, uint32_t byte, uint32_t lane) {
    const uint32_t bytes = Shadow::cell_bytes(s);
    const Entry mine = cell_entry(c.segment, c.event.site, lane);
    const Entry writer = c.shadow.writer_at(s, byte);
    bool same_value = false;
    if (writer >= c.floor && unordered_lane(c, writer, lane) != kNobody) {
        same_value = stores_what_is_there(c, writer, byte, bytes, lane);
        if (!same_value) compare(c, writer, byte, lane);
    }
    if (s.reader >= c.floor || s.flags & Sector::kReaderCells) {
        const Pair p = c.shadow.readers_at(s, byte);
        const bool clash = p.first >= c.floor && compare(c, p.first, byte, lane);
        if (!clash && p.second >= c.floor) compare(c, p.second, byte, lane);
        if (!clash && s.flags & Sector::kMoreReaders)
            compare_spilled(c, byte, lane, Sector::kMoreReaders, false);
    }
    bool keep_atomics = same_value;
    if (s.atomics) {
        const Pair p = c.shadow.atomic_cell(s, byte);
        for (const Entry e : {p.first, p.second}) {
            if (e < c.floor || unordered_lane(c, e, lane) == kNobody) continue;
            // A plain store of the same value that another one pushed aside, see below.
            if (!strong(e) && stores_what_is_there(c, e, byte, bytes, lane)) {
                keep_atomics = true;
            } else {
                compare(c, e, byte, lane);
                break;
            }
        }
        if (s.flags & Sector::kMoreAtomics) compare_spilled(c, byte, lane, Sector::kMoreAtomics, true);
    }
    Entry& slot = c.shadow.writer_cell(s, byte);
    if (s.flags & Sector::kReaderCells) c.shadow.reader_cell(s, byte) = {};
    if (s.atomics && !keep_atomics) c.shadow.atomic_cell(s, byte) = {};
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
    c.shadow.writer_cell(s, byte) = mine;
}

}  // namespace checks
