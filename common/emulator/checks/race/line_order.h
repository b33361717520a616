// SPDX-License-Identifier: MIT
// Which of the two lines of a race is reported as the place: the one that a thread runs last, if it
// runs both with no barrier between them. So the place does not depend on which of the two accesses
// happened to run first.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "checks/race/context.h"
#include "checks/race/describe.h"

namespace checks {

class LineOrder {
public:
    // Whether the earlier access of the race, at `other`, comes later in the program than the
    // current one. All races of the same two lines get the same answer.
    bool comes_later(const AccessContext& c, const Race& race, machine::SiteId other);

private:
    std::unordered_map<uint64_t, bool> decided_;  // by both places
    std::set<std::string> order_of_lines_;        // "file:line file:line"
};

}  // namespace checks
