// SPDX-License-Identifier: MIT
// The table of one processor level. Compiled once per level: see arith_core.h.
#include "machine/lanes/arith_core.h"
#include "machine/lanes/levels.h"

namespace machine::LEVEL_NS {

// Defined in access.cpp and moves.cpp.
extern const AccessTable kAccessTable;
extern const MoveTable kMoveTable;

namespace {

// Tries each group of instructions.
bool select_form(const Form& form, Selected& out) {
    constexpr bool (*kGroups[])(const Form&, Selected&) = {
        &select_integer,
        &select_multiply,
        &select_bits,
        &select_move,
        &select_compare,
        &select_float,
        &select_convert,
        &select_fields,
        &select_carry,
        &select_rounded,
        &select_half,
        &select_video,
        &select_approximate,
    };
    for (const auto group : kGroups)
        if (group(form, out)) return true;
    return false;
}

}  // namespace

extern const LevelTables kTables;
constinit const LevelTables kTables = {select_form, &kAccessTable, &kMoveTable};

const LevelTables& own_tables();
const LevelTables& own_tables() {
    return kTables;
}

}  // namespace machine::LEVEL_NS
