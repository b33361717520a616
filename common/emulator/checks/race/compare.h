// SPDX-License-Identifier: MIT
// Compares one lane's access with one earlier entry of the same bytes, by each of the rules in
// detector.h, and adds the race if they conflict and are unordered.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "checks/race/context.h"
#include "checks/race/found_races.h"

namespace checks {

class PairComparison {
public:
    explicit PairComparison(FoundRaces& found) : found_(found) {}

    // One of the two is plain. `load`: the earlier one is a load. True: they race.
    bool plain(AccessContext& c, Epoch e, uint32_t byte, uint32_t lane, bool load = false);
    // As plain(), with the entries of a side table; `plain_only`: those that are not strong.
    void spilled(AccessContext& c, uint32_t byte, uint32_t lane, Sector::Flag more,
                 bool plain_only);
    // Both are strong, but one may have only block scope.
    void scope(AccessContext& c, Epoch e, uint32_t byte, uint32_t lane);
    // Both are volatile and of one warp, and one is a store. True: they race.
    bool volatiles(AccessContext& c, Epoch e, uint32_t byte, uint32_t lane, bool load);
    // A strong store after the strong writes of `stores`: both may end an update in two steps.
    void update(AccessContext& c, const Sector& s, const Pair& stores, uint32_t byte,
                uint32_t lane);
    // A strong read finds what `e` stored: see HappensBefore::observe.
    void observe(AccessContext& c, Epoch e, uint32_t byte, uint32_t lane);

private:
    // Whether the strong store writes back, changed, what its warp has read there.
    bool ends_update(const AccessContext& c, const Sector& s, uint32_t byte);

    FoundRaces& found_;
    std::unordered_map<uint64_t, bool> lost_updates_;  // by load and store
};

}  // namespace checks
