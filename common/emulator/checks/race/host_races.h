// SPDX-License-Identifier: MIT
// Races between the host and kernels: copies and fills of other streams, allocations that a kernel
// does not wait for, and the host's own accesses to managed and pinned memory.
#pragma once

#include <cstdint>

#include "checks/host_watch.h"
#include "checks/race/describe.h"
#include "checks/race/happens_before.h"
#include "checks/race/instructions.h"
#include "checks/race/shadow.h"
#include "checks/report/report.h"

namespace checks {

class HostRaces {
public:
    HostRaces(const char* code, const HappensBefore& order, const InstructionTable& instructions,
              Report& report)
        : code_(code), order_(order), instructions_(instructions), report_(report) {}

    // A copy or fill by the host, which is segment `segment`, of the bytes [begin, end) of
    // `shadow`. `all_ordered`: after all that the shadow knows of.
    void host_access(const machine::HostAccess& access, const machine::Allocation& allocation,
                     Segment segment, Shadow& shadow, uint64_t begin, uint64_t end, bool writes,
                     bool all_ordered = false);
    // The allocation itself, which is segment `made`, is not ordered before an access of `lane`, or
    // before the host's.
    void too_early(const machine::AccessEvent& event, uint32_t lane,
                   const machine::Allocation& allocation, Segment made);
    void too_early(const machine::HostAccess& access, const machine::Allocation& allocation,
                   Segment made, bool writes);
    // Adds to a page's use the bytes [begin, end) of `shadow` that kernels and copies in flight
    // use. `page`: the page's first byte.
    void add_use(const Shadow& shadow, uint64_t page, uint64_t begin, uint64_t end,
                 PageUse& use) const;
    // The host itself has accessed bytes at offset `begin` of `shadow`.
    void host_touch(const HostTouch& touch, const machine::Allocation& allocation,
                    const Shadow& shadow, uint64_t begin, uint64_t end);

private:
    // Whether the host may meet a writer or reader while it is still running.
    bool in_flight(Epoch writer, StreamOrder::FlightRange& range) const {
        return writer && order_.streams().in_flight(segment_of(writer), range);
    }
    bool read_in_flight(Epoch reader, StreamOrder::FlightRange& range) const {
        return in_flight(reader, range) && !instructions_.strong(reader);
    }

    const char* code_;
    const HappensBefore& order_;
    const InstructionTable& instructions_;
    Report& report_;
};

}  // namespace checks
