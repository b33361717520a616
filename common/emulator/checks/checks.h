// SPDX-License-Identifier: MIT
// All checkers by name, and the counters. The assembly of the library picks from here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checks/report.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

struct Checker {
    std::string name;  // as EMULATOR_CHECKS names it
    std::unique_ptr<machine::Observer> observer;
    uint32_t interests;  // machine::Interest bits
};

// `selection`: "all", "none" or a comma-separated list of names or finding codes. Throws
// std::invalid_argument naming the unknown word and the known ones.
std::vector<Checker> make_checkers(const std::string& selection, Report& report,
                                   machine::Memory& memory);

}  // namespace checks
