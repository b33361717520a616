// SPDX-License-Identifier: MIT
#include "checks/race/found_races.h"

#include <utility>

namespace checks {
namespace {

constexpr machine::SiteId kHostKey = 0x80000000u;

}  // namespace

void FoundRaces::add(AccessContext& c, Epoch e, uint32_t other_lane, uint32_t byte, uint32_t lane,
                     Clash clash) {
    const bool scope = clash == Clash::kScope;
    machine::SiteId key = instruction_of(e);
    if (key == 0) {
        const auto* operation = c.order.streams().operation(segment_of(e));
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
    f.race.address = c.address(byte);
    f.race.other_segment = segment_of(e);
    f.race.other_lane = other_lane;
    f.race.other_site = c.instructions.place(instruction_of(e));
    f.race.other = c.instructions.traits(instruction_of(e));
    f.race.one_store =
        c.role == AccessRole::kStore && segment_of(e) == c.segment && instruction_of(e) == c.id;
    f.race.first_write = Shadow::writer_at(c.shadow.sector(c.offset), byte) < c.floor;
    f.race.narrow_scope = scope;
    f.race.lock_step = clash == Clash::kLockStep;
    f.race.lost_update = clash == Clash::kUpdate;
}

void FoundRaces::report(AccessContext& c) {
    for (uint32_t i = 0; i < c.races; ++i) {
        Found& f = found_[i];
        machine::SiteId place = c.event.site, other = c.instructions.place(f.key);
        f.race.swapped = lines_.comes_later(c, f.race, other);
        if (f.race.swapped) std::swap(place, other);
        if (report_.bump(code_, place, other, f.count) ||
            pending_.add(c, f.race, f.key, place, other, f.count))
            continue;
        report_.add(describe_race(code_, c.order, f.race, f.count));
        report_.remember(code_, place, other);
    }
}

}  // namespace checks
