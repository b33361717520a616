// SPDX-License-Identifier: MIT
// Determines which processor levels were linked in, and selects one.
#include "machine/lanes/levels.h"

#include <algorithm>

namespace machine {

// Compiled from level_tables.cpp, each with the other files of its level. Which of them are linked
// in is chosen when a program is linked: the address of an absent one is null.
#if defined(__x86_64__)
namespace x86_64_v2 {
extern const LevelTables kTables __attribute__((weak));
}
namespace x86_64_v3 {
extern const LevelTables kTables __attribute__((weak));
}
namespace x86_64_v4 {
extern const LevelTables kTables __attribute__((weak));
}
#else
namespace baseline {
extern const LevelTables kTables __attribute__((weak));
}
#endif

// Those of the level that belongs to this library, from a file that CMake writes. Its reference
// takes the level out of the archive, which one to a weak name does not.
const LevelTables& own_tables();

namespace {

const LevelTables* linked_tables(ProcessorLevel level) {
#if defined(__x86_64__)
    if (level == ProcessorLevel::kX86_64_v2) return &x86_64_v2::kTables;
    if (level == ProcessorLevel::kX86_64_v3) return &x86_64_v3::kTables;
    if (level == ProcessorLevel::kX86_64_v4) return &x86_64_v4::kTables;
    return nullptr;
#else
    return level == ProcessorLevel::kBaseline ? &baseline::kTables : nullptr;
#endif
}

constexpr ProcessorLevel kDescending[] = {ProcessorLevel::kX86_64_v4,
                                          ProcessorLevel::kX86_64_v3,
                                          ProcessorLevel::kX86_64_v2,
                                          ProcessorLevel::kBaseline};

struct Choice {
    ProcessorLevel level = ProcessorLevel::kBaseline;
    const LevelTables* tables = &own_tables();

    void take(ProcessorLevel most) {
        for (const auto candidate : kDescending)
            if (candidate <= most && can_run(candidate)) {
                level = candidate;
                tables = linked_tables(candidate);
                return;
            }
    }
};

Choice& choice() {
    static Choice chosen = [] {
        Choice first;
        first.take(ProcessorLevel::kX86_64_v4);
        return first;
    }();
    return chosen;
}

}  // namespace

bool can_run(ProcessorLevel level) {
    return linked_tables(level) && level <= processor_level();
}

ProcessorLevel lowest_linked_level() {
    ProcessorLevel lowest = ProcessorLevel::kX86_64_v4;
    for (const auto level : kDescending)
        if (linked_tables(level)) lowest = level;
    return lowest;
}

ProcessorLevel best_level() {
    return choice().level;
}

void limit_level(ProcessorLevel most) {
    choice().take(std::min(most, best_level()));
}

const LevelTables& level_tables(ProcessorLevel level) {
    return *linked_tables(level);
}

const AccessTable& access_handlers() {
    return *choice().tables->access;
}

const MoveTable& move_handlers() {
    return *choice().tables->moves;
}

}  // namespace machine
