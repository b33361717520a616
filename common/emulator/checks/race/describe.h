// SPDX-License-Identifier: MIT
// A race between two accesses, and the finding that describes it.
#pragma once

#include <cstdint>

#include "checks/host_watch.h"
#include "checks/race/happens_before.h"
#include "checks/race/instructions.h"
#include "checks/report/report.h"

namespace checks {

// One pair of accesses that race.
struct Race {
    const machine::AccessEvent* event = nullptr;      // the later one ...
    const machine::Allocation* allocation = nullptr;  // of global memory; null: shared
    uint32_t lane = 0;
    uint64_t address = 0;       // ... where they meet
    Segment other_segment = 0;  // the earlier one
    uint32_t other_lane = 0;
    machine::SiteId other_site = 0;
    AccessTraits other;
    bool first_write = false;   // no write to it in this launch came before
    bool swapped = false;       // the earlier one comes later in the program: report it as such
    bool too_early = false;     // the earlier one is the allocation, in another stream
    bool one_store = false;     // two lanes of one store instruction
    bool under_way = false;     // the earlier one is a cp.async that was not waited for
    bool narrow_scope = false;  // both strong, but one of them for its own block only
    bool lock_step = false;     // both volatile, by lanes of one warp
    bool lost_update = false;   // both end an update in two steps, a strong load and a strong store
};

struct Array;  // source/names.h

// What both sides of a race do, and to which element.
void add_facts(JsonObject& facts, const AccessTraits& mine, const AccessTraits& other,
               const Array& array, uint64_t address);
// The finding for one race, which stands for `count` pairs.
Finding describe_host_touch(const char* code, const HappensBefore& order, const HostTouch& touch,
                            const Race& race);
Finding describe_race(const char* code, const HappensBefore& order, const Race& race,
                      uint64_t count);
// The same for a copy or fill by the host as the later access.
void report_host_race(Report& report, const char* code, const HappensBefore& order,
                      const machine::HostAccess& access, const machine::Allocation& allocation,
                      bool writes, const Race& race, uint64_t count);

}  // namespace checks
