// SPDX-License-Identifier: MIT
// The races of one access: collected while it is compared with earlier ones, then reported, each on
// the line that comes later in the program.
#pragma once

#include <array>
#include <cstdint>

#include "checks/race/context.h"
#include "checks/race/describe.h"
#include "checks/race/guesses.h"
#include "checks/race/line_order.h"

namespace checks {

class FoundRaces {
public:
    FoundRaces(const char* code, const InstructionTable& instructions, Report& report)
        : code_(code), report_(report), pending_(code, instructions, report) {}

    // kLockStep: two volatile accesses of one warp; kUpdate: two updates in two steps.
    enum class Clash : uint8_t { kPlain, kScope, kLockStep, kUpdate };
    // `lane` of the access and `other_lane` of `e` race at `byte` of the sector.
    void add(AccessContext& c, Epoch e, uint32_t other_lane, uint32_t byte, uint32_t lane,
             Clash clash);
    // The access has been compared with all earlier ones: reports what was added since the last
    // call.
    void report(AccessContext& c);
    // The launch is over, see PendingRaces.
    void settle() { pending_.settle(); }

private:
    // By other party; of an access that races with more, the first ones.
    struct Found {
        machine::SiteId key = 0;
        uint64_t count = 0;
        Race race;
    };

    const char* code_;
    Report& report_;
    std::array<Found, 6> found_;  // the first AccessContext::races are in use
    LineOrder lines_;
    PendingRaces pending_;
};

}  // namespace checks
