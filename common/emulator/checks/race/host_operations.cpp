// SPDX-License-Identifier: MIT
// Copies and fills by the host, and allocations in the order of a stream, against kernels of other
// streams. Only used once a program has more than the default stream; before that, stream order
// decides, and operations are kept for later (Unentered).
#include <algorithm>

#include "checks/race/host_races.h"

namespace checks {

void HostRaces::host_access(const machine::HostAccess& access,
                            const machine::Allocation& allocation, Segment segment, Shadow& shadow,
                            uint64_t begin, uint64_t end, bool writes, bool all_ordered) {
    Race race;
    uint64_t races = 0;
    const auto compare = [&](Epoch e, uint64_t offset) {
        if (e == 0 || order_.ordered_before_host(segment_of(e))) return;
        if (races++) return;
        race.allocation = &allocation;
        race.address = (allocation.address & ~uint64_t(kSectorBytes - 1)) + offset;
        race.other_segment = segment_of(e);
        race.other_lane = lane_of(e);
        race.other_site = instructions_.place(instruction_of(e));
        race.other = instructions_.traits(instruction_of(e));
    };
    const Epoch pattern = pattern_entry(segment, 0, 0, kWholeSector);
    const Epoch cell = cell_entry(segment, 0, 0);
    for (uint64_t at = begin & ~uint64_t(kSectorBytes - 1); at < end; at += kSectorBytes) {
        Sector& s = shadow.sector(at);
        const uint32_t low = uint32_t(std::max(at, begin) - at);
        const uint32_t high = uint32_t(std::min(at + kSectorBytes, end) - at);
        if ((low | high) & 3) shadow.use_byte_cells(s);
        shadow.prepare_words(s);
        const uint32_t step = s.cell_bytes();
        // Most of a large range is ordered; what is not is counted cell by cell.
        const auto ordered = [&](Epoch e) { return order_.ordered_before_host(segment_of(e)); };
        const bool cells = s.has(Sector::kWriterCells | Sector::kReaderCells) || s.atomic_cells();
        const bool look = !all_ordered && (cells || !ordered(s.writer) ||
                                           (writes && !(ordered(s.reader) && ordered(s.reader2))));
        for (uint32_t byte = low; look && byte < high; byte += step) {
            compare(shadow.writer_at(s, byte), at + byte);
            if (s.atomic_cells()) {
                compare(shadow.atomic_cell(s, byte).first, at + byte);
                compare(shadow.atomic_cell(s, byte).second, at + byte);
            }
            if (!writes) continue;
            compare(shadow.readers_at(s, byte).first, at + byte);
            compare(shadow.readers_at(s, byte).second, at + byte);
        }
        const bool whole = low == 0 && high == kSectorBytes;
        if (whole && writes) {
            shadow.clear_writer(s);
            s.writer = pattern;
        } else if (whole && !s.has(Sector::kReaderCells)) {
            s.reader2 = s.reader;
            s.reader = pattern;
        } else {
            for (uint32_t byte = low; byte < high; byte += step) {
                if (writes) {
                    shadow.writer_cell(s, byte) = cell;
                } else {
                    Pair& readers = shadow.reader_cell(s, byte);
                    readers = {cell, readers.first};
                }
            }
        }
    }
    if (races) report_host_race(report_, code_, order_, access, allocation, writes, race, races);
}

void HostRaces::too_early(const machine::AccessEvent& event, uint32_t lane,
                          const machine::Allocation& allocation, Segment made) {
    Race race;
    race.event = &event;
    race.allocation = &allocation;
    race.lane = lane;
    race.address = event.address[lane];
    race.other_segment = made;
    race.too_early = true;
    report_.add(describe_race(code_, order_, race, 1));
}

void HostRaces::too_early(const machine::HostAccess& access, const machine::Allocation& allocation,
                          Segment made, bool writes) {
    Race race;
    race.allocation = &allocation;
    race.address = access.address;
    race.other_segment = made;
    report_host_race(report_, code_, order_, access, allocation, writes, race, 1);
}

}  // namespace checks
