// SPDX-License-Identifier: MIT
// The pairwise questions of race detection, and what is remembered of an access.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "checks/race_context.h"
#include "checks/stored_back.h"

namespace checks {

using machine::AccessEvent;

namespace {

constexpr size_t kMostSpilled = 64;  // entries of one sector
constexpr machine::SiteId kHostKey = 0x80000000u;

}  // namespace

// A lane of `e` that is not ordered before `lane` of the event's warp.
uint32_t RaceDetector::unordered_lane(const Context& c, Entry e, uint32_t lane, bool load) const {
    const uint32_t first = lane_of(e), second = second_lane_of(e);
    if (load) {
        if (!order_.load_ordered(segment_of(e), first, c.warp, lane)) return first;
        if (second != first && !order_.load_ordered(segment_of(e), second, c.warp, lane))
            return second;
        return kNobody;
    }
    if (!order_.ordered(segment_of(e), first, c.warp, lane)) return first;
    if (second != first && !order_.ordered(segment_of(e), second, c.warp, lane)) return second;
    return kNobody;
}

bool RaceDetector::compare(Context& c, Entry e, uint32_t byte, uint32_t lane, bool load) {
    const uint32_t other = unordered_lane(c, e, lane, load);
    if (other == kNobody) return false;
    found(c, e, other, byte, lane, Clash::kPlain);
    return true;
}

// A strong read finds what `e` stored: see HappensBefore::observe.
void RaceDetector::observe(Context& c, Entry e, uint32_t byte, uint32_t lane) {
    const machine::SiteId site = instruction_of(e);
    if (e < c.floor || !strong(e) || traits_at(site).atomic) return;
    order_.observe(segment_of(e), lane_of(e), c.warp, lane, c.offset + byte - c.shift);
}

void RaceDetector::compare_scope(Context& c, Entry e, uint32_t byte, uint32_t lane) {
    if (e < c.floor || !strong(e)) return;
    if (!traits_at(instruction_of(e)).block_scope && !traits_at(c.id).block_scope) return;
    const Segment segment = segment_of(e);
    if (segment >= order_.launch_first() && order_.same_block(order_.warp_of(segment), c.warp))
        return;
    const uint32_t other = unordered_lane(c, e, lane);
    if (other != kNobody) found(c, e, other, byte, lane, Clash::kScope);
}

// Two volatile accesses of one warp, one of them a store. `load`: the earlier access is one.
bool RaceDetector::compare_volatile(Context& c, Entry e, uint32_t byte, uint32_t lane, bool load) {
    if (e < c.floor || instruction_of(e) == c.id) return false;
    if (!traits_at(c.id).by_volatile || !traits_at(instruction_of(e)).by_volatile) return false;
    if (order_.warp_of(segment_of(e)) != c.warp.number) return false;
    const uint32_t other = unordered_lane(c, e, lane, load);
    if (other == kNobody) return false;
    found(c, e, other, byte, lane, Clash::kLockStep);
    return true;
}

// Whether the strong store of the event writes back what its warp has read there, and changed.
bool RaceDetector::ends_update(const Context& c, const Sector& s, uint32_t byte) {
    const Pair readers = Shadow::readers_at(s, byte);
    for (const Entry e : {readers.first, readers.second}) {
        if (e < c.floor || segment_of(e) < order_.launch_first() || !strong(e) ||
            order_.warp_of(segment_of(e)) != c.warp.number)
            continue;
        const machine::SiteId load = traits_at(instruction_of(e)).instruction;
        const auto [entry, fresh] =
            stored_back_.try_emplace(uint64_t(load) << 32 | c.event.instruction);
        if (fresh) entry->second = is_stored_back(load, c.event.instruction);
        if (entry->second) return true;
    }
    return false;
}

// A strong store after those of the pair.
void RaceDetector::compare_update(Context& c, const Sector& s, const Pair& stores, uint32_t byte,
                                  uint32_t lane) {
    if (!ends_update(c, s, byte)) return;
    traits_slot(c.id).ends_update = true;
    for (const Entry e : {stores.first, stores.second}) {
        if (e < c.floor || !traits_at(instruction_of(e)).ends_update) continue;
        const uint32_t other = unordered_lane(c, e, lane);
        if (other == kNobody) continue;
        found(c, e, other, byte, lane, Clash::kUpdate);
        return;
    }
}

void RaceDetector::found(Context& c, Entry e, uint32_t other_lane, uint32_t byte, uint32_t lane,
                         Clash clash) {
    const bool scope = clash == Clash::kScope;
    machine::SiteId key = instruction_of(e);
    if (key == 0) {
        const auto* operation = order_.streams().operation(segment_of(e));
        key = kHostKey | (operation ? operation->site : 0);
    }
    for (uint32_t i = 0; i < c.races; ++i)
        if (found_[i].key == key && found_[i].race.narrow_scope == scope) {
            ++found_[i].count;
            return;
        }
    if (c.races == found_.size()) return;
    Found& f = found_[c.races++];
    f.key = key;
    f.count = 1;
    f.race = {};
    f.race.event = &c.event;
    f.race.allocation = c.allocation;
    f.race.lane = lane;
    f.race.address = c.offset + byte - c.shift;
    f.race.other_segment = segment_of(e);
    f.race.other_lane = other_lane;
    f.race.other_site = place_behind(instruction_of(e));
    f.race.other = traits_at(instruction_of(e));
    f.race.one_store =
        c.role == Role::kStore && segment_of(e) == c.segment && instruction_of(e) == c.id;
    f.race.first_write = Shadow::writer_at(c.shadow.sector(c.offset), byte) < c.floor;
    f.race.narrow_scope = scope;
    f.race.lock_step = clash == Clash::kLockStep;
    f.race.lost_update = clash == Clash::kUpdate;
}

void RaceDetector::flush(Context& c) {
    for (uint32_t i = 0; i < c.races; ++i) {
        Found& f = found_[i];
        machine::SiteId place = c.event.site, other = place_behind(f.key);
        f.race.swapped = comes_later(c, f);
        if (f.race.swapped) std::swap(place, other);
        if (report_.bump(code_, place, other, f.count) || hold(c, f, place, other)) continue;
        report_.add(describe_race(code_, order_, f.race, f.count));
        report_.remember(code_, place, other);
    }
}

// Whether a thread that runs both instructions, with no barrier between them, runs the other
// party's last: then that one is to blame, although it happened to run first this time.
bool RaceDetector::comes_later(const Context& c, const Found& f) {
    const machine::SiteId now = c.event.site, other = place_behind(f.key);
    if (f.race.other_segment < order_.launch_first() || other == now) return false;
    const auto [entry, fresh] = later_.try_emplace(uint64_t(other) << 32 | now);
    if (!fresh) return entry->second;
    const ptx::SourceLine &here = site_of(now).user, &there = site_of(other).user;
    const auto lines = [](const ptx::SourceLine& first, const ptx::SourceLine& then) {
        return first.file + ':' + std::to_string(first.line) + ' ' + then.file + ':' +
               std::to_string(then.line);
    };
    if (const std::optional<bool> seen = seen_later(c, f)) {
        entry->second = *seen;
    } else if (order_of_lines_.count(lines(there, here))) {
        entry->second = false;
    } else if (order_of_lines_.count(lines(here, there))) {
        entry->second = true;
    } else {
        // Nobody runs both. Who read before anybody had written came too early; else the text has
        // to say which is later.
        entry->second =
            (f.race.first_write && c.event.kind != machine::AccessKind::kLoad &&
             !f.race.other.writes) ||
            (here.file == there.file && here.function == there.function && there.line > here.line);
    }
    order_of_lines_.insert(entry->second ? lines(here, there) : lines(there, here));
    return entry->second;
}

// The same by what warps have done; empty when none of them ran both.
std::optional<bool> RaceDetector::seen_later(const Context& c, const Found& f) const {
    const machine::SiteId now = c.event.site, other = place_behind(f.key);
    const uint32_t warp = order_.warp_of(f.race.other_segment);
    const BlockOrder& block = *c.warp.block;
    const Segment since = warp == c.warp.number ? c.warp.floor : block.floor;
    if (c.warp.steps.has(other, since)) return false;
    const bool same_block = order_.same_block(warp, c.warp);
    const StepLog& log =
        same_block ? block.warps[warp - block.first_warp].steps : order_.finished();
    if (log.in_order(other, now, same_block ? since : 0)) return false;
    if (log.in_order(now, other, same_block ? since : 0)) return true;
    return std::nullopt;
}

// What memory holds at an address within the access of `lane`; null when that is not known.
const std::byte* RaceDetector::held_at(const Context& c, uint64_t address, uint32_t lane) {
    if (c.allocation)
        return c.allocation->host ? c.allocation->host + (address - c.allocation->address)
                                  : nullptr;
    const std::byte* held = machine::current_bytes(c.event, lane);
    return held ? held + (address - c.event.address[lane]) : nullptr;
}

// Whether `lane` stores the value that `writer` stored into this cell.
bool RaceDetector::stores_what_is_there(const Context& c, Entry writer, uint32_t byte,
                                        uint32_t bytes, uint32_t lane) const {
    const AccessEvent& event = c.event;
    if (!event.values) return false;
    const uint64_t address = c.offset + byte - c.shift;
    const auto stored_by = [&](uint32_t l) {
        return event.values + l * event.value_stride + (address - event.address[l]);
    };
    if (segment_of(writer) == c.segment && instruction_of(writer) == c.id) {
        // Perhaps another lane of this very instruction, which is not in memory yet.
        for (uint32_t l = lane; l-- > 0;) {
            if (!((event.mask & ~event.bad_lanes) >> l & 1) || address < event.address[l] ||
                address + bytes > event.address[l] + event.bytes)
                continue;
            return std::memcmp(stored_by(lane), stored_by(l), bytes) == 0;
        }
    }
    const std::byte* now = held_at(c, address, lane);
    return now && std::memcmp(stored_by(lane), now, bytes) == 0;
}

// How much `e` still matters beside a newer access by `lane`: 0 not at all, since it is ordered
// before; 1 it is of the same warp, 2 of the same block, 3 of another block.
uint32_t RaceDetector::rank(const Context& c, Entry e, uint32_t lane) const {
    if (e < c.floor) return 0;
    const Segment segment = segment_of(e);
    if (c.partial || segment < order_.launch_first()) {
        if (unordered_lane(c, e, lane) == kNobody) return 0;
        if (segment < order_.launch_first()) return 3;
    }
    const uint32_t warp = order_.warp_of(segment);
    if (warp == c.warp.number) {
        const bool same_thread = lane_of(e) == lane && second_lane_of(e) == lane;
        return same_thread || segment < c.warp.floor ? 0 : 1;
    }
    if (!order_.same_block(warp, c.warp)) return 3;
    return segment < c.warp.block->floor ? 0 : 2;
}

// Why two entries are enough while only whole barriers and whole-warp syncs order anything. Let
// `first` be the newest access and t whoever comes next. If some access x is unordered with t, but
// `first` is not, then `first` is t's own, or of t's warp (block) and before the last sync
// (barrier) of it; so is every older access there, and x is of another lane, warp or block.
// `second` is kept by how far away it is from `first`, and then by age, so it is unordered with t
// as well. With partial syncs and fences this does not hold, and what is dropped goes to the side
// table.
void RaceDetector::remember_more(Context& c, Sector& s, Pair& pair, Entry mine, uint32_t byte,
                                 Sector::Flag more) {
    const uint32_t lane = lane_of(mine);
    if (segment_of(pair.first) == segment_of(mine) &&
        second_lane_of(pair.first) == lane_of(pair.first) && lane_of(pair.first) == lane) {
        pair.first = mine;  // the same thread again, elsewhere
        return;
    }
    const uint32_t first = rank(c, pair.first, lane), second = rank(c, pair.second, lane);
    if (c.partial && first && second)
        spill(c, s, byte, false, first >= second ? pair.second : pair.first, more);
    pair.second = first | second ? (first >= second ? pair.first : pair.second) : 0;
    pair.first = mine;
}

void RaceDetector::spill(Context& c, Sector& s, uint32_t byte, bool pattern, Entry e,
                         Sector::Flag more) {
    auto& list = c.shadow.spilled(c.offset, more);
    s.set(more);
    const Entry same = ~(Entry(0xffffff) << 10);  // whatever the instruction
    for (Shadow::Spilled& known : list)
        if (known.byte == byte && known.pattern == pattern && ((known.entry ^ e) & same) == 0)
            return;
    if (list.size() >= kMostSpilled) {
        std::erase_if(list, [&](const Shadow::Spilled& known) { return known.entry < c.floor; });
        if (list.size() >= kMostSpilled) list.erase(list.begin());
    }
    list.push_back({e, uint8_t(byte), pattern});
}

// Whether none of the entries matters to a store of the whole sector; drops them if so.
bool RaceDetector::spilled_ordered(Context& c, Sector& s, Entry mine, Sector::Flag more) {
    const bool load = more == Sector::kMoreReaders;
    auto& list = c.shadow.spilled(c.offset, more);
    for (const Shadow::Spilled& known : list) {
        if (known.entry < c.floor) continue;
        const bool ordered =
            known.pattern
                ? pattern_ordered(c, known.entry, mine, load)
                : unordered_lane(
                      c, known.entry, lane_of(cell_of_pattern(mine, known.byte)), load) == kNobody;
        if (!ordered) return false;
    }
    if (c.role == Role::kStore) {
        list.clear();
        s.unset(more);
    }
    return true;
}

void RaceDetector::compare_spilled(Context& c, uint32_t byte, uint32_t lane, Sector::Flag more,
                                   bool plain_only) {
    const uint32_t bytes = c.shadow.sector(c.offset).cell_bytes();
    for (const Shadow::Spilled& known : c.shadow.spilled(c.offset, more)) {
        if (known.entry < c.floor || (plain_only && strong(known.entry))) continue;
        if (!known.pattern) {
            if (known.byte == byte &&
                compare(c, known.entry, byte, lane, more == Sector::kMoreReaders))
                return;
            continue;
        }
        for (uint32_t i = byte; i < byte + bytes; ++i) {
            const Entry e = cell_of_pattern(known.entry, i);
            if (e && compare(c, e, i, lane, more == Sector::kMoreReaders)) return;
        }
    }
}

}  // namespace checks
