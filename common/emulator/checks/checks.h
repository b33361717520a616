// SPDX-License-Identifier: MIT
// Creates the checkers and counters that EMULATOR_CHECKS selects.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

class Report;

struct Checker {
    std::string name;  // as EMULATOR_CHECKS names it
    std::unique_ptr<machine::Observer> observer;
    uint32_t interests;  // machine::Interest bits
};

// `selection`: "all", "none" or a comma-separated list of names or finding codes. Throws
// std::invalid_argument, whose text names the unknown word and the known ones.
std::vector<Checker> make_checkers(const std::string& selection, Report& report,
                                   machine::Memory& memory);

}  // namespace checks
