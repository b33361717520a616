// SPDX-License-Identifier: MIT
// The checkers that EMULATOR_CHECKS selects.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checks/host_watch.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

class Report;
struct CheckerEntry;

struct Checker {
    std::string name;  // as EMULATOR_CHECKS names it
    std::unique_ptr<machine::Observer> observer;
    uint32_t interests;  // machine::Interest bits
    HostWatch* host_watch =
        nullptr;  // of the checker that knows which bytes the host must not touch
};

struct Selection {
    // What may be reported, for Report::restrict_to(): a checker finds its other codes, too.
    // Empty: everything.
    std::set<std::string> codes;
    std::vector<const CheckerEntry*> checkers;
};

// `text`: "all", "quick", "none" or a comma-separated list of names or finding codes, each of which
// `-` excludes. Throws std::invalid_argument, whose text names the unknown word and the known ones.
Selection select_checkers(const std::string& text);

// `report` and `memory` must outlive the checkers.
std::vector<Checker> make_checkers(const Selection& selection, Report& report,
                                   machine::Memory& memory);

}  // namespace checks
