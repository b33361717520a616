// SPDX-License-Identifier: MIT
// Plain accesses of a lane that is alone, many at a time: machine/execute/access_runs.h.
#include <algorithm>
#include <bit>

#include "checks/race/detector.h"

namespace checks {

using machine::AccessEvent;

// A load can be entered later: what it races with stays in the shadow. A store replaces what it
// races with, and the value in memory, so a run of stores ends before the first conflict.
uint64_t RaceDetector::undisputed(const AccessEvent& next, int64_t step, uint64_t most,
                                  const machine::Allocation* allocation, Shadow& shadow,
                                  uint64_t shift) {
    const uint32_t lane = uint32_t(std::countr_zero(next.mask));
    const uint64_t start = next.address[lane] + shift;
    const AccessContext c = context_of(next, shadow, shift, allocation);
    c.warp.steps.note(next.site, c.segment);
    if (next.kind == machine::AccessKind::kLoad) return most;
    enter_deferred(shadow, allocation ? nullptr : c.warp.block);
    const auto free = [&](Epoch e, bool load) {
        return e < c.floor || unordered_lane(c, e, lane, load) == kNoLane;
    };
    uint64_t last = ~uint64_t(0);
    bool quiet = false;
    for (uint64_t k = 0; k < most; ++k) {
        const uint64_t at = start + k * uint64_t(step);
        const Sector& s = shadow.sector(at);
        if (at >> kSectorBits != last)
            quiet = s.rest == 0 && s.writer < c.floor && s.reader < c.floor && s.reader2 < c.floor;
        last = at >> kSectorBits;
        if (quiet) continue;
        if (s.atomic_cells() || s.has(Sector::kMoreReaders) || s.has(Sector::kMoreAtomics))
            return k;
        for (uint32_t byte = at % kSectorBytes, end = byte + next.bytes; byte < end; ++byte) {
            const Pair readers = Shadow::readers_at(s, byte);
            if (!free(Shadow::writer_at(s, byte), false) || !free(readers.first, true) ||
                !free(readers.second, true))
                return k;
        }
    }
    return most;
}

void RaceDetector::run(const AccessEvent& first, int64_t step, uint64_t count,
                       const machine::Allocation* allocation, Shadow& shadow, uint64_t shift) {
    const uint32_t lane = uint32_t(std::countr_zero(first.mask));
    const uint64_t bytes = first.bytes;
    uint64_t address[machine::kWarpSize];
    address[lane] = first.address[lane];
    AccessEvent event = first;
    event.address = address;
    AccessContext c = context_of(event, shadow, shift, allocation);
    const bool load = c.role == AccessRole::kLoad;
    enter_deferred(shadow, allocation ? nullptr : c.warp.block);
    if (!load) shadow.note_write(c.segment);
    if (step < 0) {  // all by one thread: their order does not matter
        address[lane] += uint64_t(step) * (count - 1);
        step = -step;
    }
    if (step == 0) count = 1;
    if (count > 1 && uint64_t(step) == bytes) {
        const Epoch mine = pattern_entry(c.segment, c.id, lane, kWholeSector);
        const uint64_t begin = address[lane] + shift, end = begin + count * bytes;
        for (uint64_t at = begin; at < end;) {
            const uint64_t stop = std::min(end, (at | (kSectorBytes - 1)) + 1);
            Sector& s = shadow.sector(at);
            c.offset = at & ~uint64_t(kSectorBytes - 1);
            if (stop - at == kSectorBytes) {
                const bool untouched = s.rest == 0 && s.writer < c.floor && s.reader < c.floor;
                if (untouched) (load ? s.reader : s.writer) = mine;
                if (untouched ||
                    (load ? sectors_.load_sector(c, s, mine) : sectors_.store_sector(c, s, mine)))
                    at = stop;
            }
            for (; at < stop; at += bytes) {
                address[lane] = at - shift;
                cells_.scattered(c, event.mask);
            }
        }
    } else {
        for (uint64_t k = 0; k < count; ++k) {
            cells_.scattered(c, event.mask);
            address[lane] += uint64_t(step);
        }
    }
    if (c.races) found_.report(c);
    c.warp.steps.note(first.site, c.segment);
}

}  // namespace checks
