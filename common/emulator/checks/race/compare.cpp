// SPDX-License-Identifier: MIT
#include "checks/race/compare.h"

#include "checks/race/lost_update.h"

namespace checks {

bool PairComparison::plain(AccessContext& c, Epoch e, uint32_t byte, uint32_t lane, bool load) {
    const uint32_t other = unordered_lane(c, e, lane, load);
    if (other == kNoLane) return false;
    found_.add(c, e, other, byte, lane, FoundRaces::Clash::kPlain);
    return true;
}

void PairComparison::observe(AccessContext& c, Epoch e, uint32_t byte, uint32_t lane) {
    const machine::SiteId site = instruction_of(e);
    if (e < c.floor || !c.instructions.strong(e) || c.instructions.traits(site).atomic) return;
    c.order.observe(segment_of(e), lane_of(e), c.warp, lane, c.address(byte));
}

void PairComparison::scope(AccessContext& c, Epoch e, uint32_t byte, uint32_t lane) {
    if (e < c.floor || !c.instructions.strong(e)) return;
    if (!c.instructions.traits(instruction_of(e)).block_scope &&
        !c.instructions.traits(c.id).block_scope)
        return;
    const Segment segment = segment_of(e);
    if (segment >= c.order.launch_first() && c.order.same_block(c.order.warp_of(segment), c.warp))
        return;
    const uint32_t other = unordered_lane(c, e, lane);
    if (other != kNoLane) found_.add(c, e, other, byte, lane, FoundRaces::Clash::kScope);
}

bool PairComparison::volatiles(AccessContext& c, Epoch e, uint32_t byte, uint32_t lane, bool load) {
    if (e < c.floor || instruction_of(e) == c.id) return false;
    if (!c.instructions.traits(c.id).by_volatile ||
        !c.instructions.traits(instruction_of(e)).by_volatile)
        return false;
    if (c.order.warp_of(segment_of(e)) != c.warp.number) return false;
    const uint32_t other = unordered_lane(c, e, lane, load);
    if (other == kNoLane) return false;
    found_.add(c, e, other, byte, lane, FoundRaces::Clash::kLockStep);
    return true;
}

bool PairComparison::ends_update(const AccessContext& c, const Sector& s, uint32_t byte) {
    const Pair readers = Shadow::readers_at(s, byte);
    for (const Epoch e : {readers.first, readers.second}) {
        if (e < c.floor || segment_of(e) < c.order.launch_first() || !c.instructions.strong(e) ||
            c.order.warp_of(segment_of(e)) != c.warp.number)
            continue;
        const machine::SiteId load = c.instructions.traits(instruction_of(e)).instruction;
        const auto [entry, fresh] =
            lost_updates_.try_emplace(uint64_t(load) << 32 | c.event.instruction);
        if (fresh) entry->second = is_lost_update(load, c.event.instruction);
        if (entry->second) return true;
    }
    return false;
}

void PairComparison::update(AccessContext& c, const Sector& s, const Pair& stores, uint32_t byte,
                            uint32_t lane) {
    if (!ends_update(c, s, byte)) return;
    c.instructions.traits(c.id).ends_update = true;
    for (const Epoch e : {stores.first, stores.second}) {
        if (e < c.floor || !c.instructions.traits(instruction_of(e)).ends_update) continue;
        const uint32_t other = unordered_lane(c, e, lane);
        if (other == kNoLane) continue;
        found_.add(c, e, other, byte, lane, FoundRaces::Clash::kUpdate);
        return;
    }
}

void PairComparison::spilled(AccessContext& c, uint32_t byte, uint32_t lane, Sector::Flag more,
                             bool plain_only) {
    const uint32_t bytes = c.shadow.sector(c.offset).cell_bytes();
    for (const Shadow::Spilled& known : c.shadow.spilled(c.offset, more)) {
        if (known.entry < c.floor || (plain_only && c.instructions.strong(known.entry))) continue;
        if (!known.pattern) {
            if (known.byte == byte &&
                plain(c, known.entry, byte, lane, more == Sector::kMoreReaders))
                return;
            continue;
        }
        for (uint32_t i = byte; i < byte + bytes; ++i) {
            const Epoch e = cell_of_pattern(known.entry, i);
            if (e && plain(c, e, i, lane, more == Sector::kMoreReaders)) return;
        }
    }
}

}  // namespace checks
