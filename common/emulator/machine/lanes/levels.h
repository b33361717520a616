// SPDX-License-Identifier: MIT
// Tables of the handlers that are compiled once per processor level: arithmetic, memory accesses
// and moves. A table is constant data; referring to it runs no code, so code of a level only runs
// on a processor that has all the features it was compiled for.
#pragma once

#include "machine/platform/processor.h"
#include "machine/program/code.h"

namespace machine {

struct Form;

struct AccessTable {
    Handler (*address)(ptx::Space space, AccessKind kind);
    Handler kernel_parameter;
    Handler (*function_parameter)(AccessKind kind);
    Mover (*load)(unsigned element_bytes, unsigned row_bytes, bool sign_extend);
    Mover (*store)(unsigned element_bytes, unsigned row_bytes);
};

struct MoveTable {
    Handler (*special)(ptx::Special special);
    Handler (*copy)(unsigned bytes);
    Handler (*local_address)(unsigned bytes);
    Handler (*to_generic)(unsigned bytes, uint64_t tag);
    Handler (*from_generic)(unsigned bytes);
    Handler pack, unpack, pack_words, unpack_words, complement_predicate;
    Handler (*space_test)(unsigned bytes);
    Handler fence, wait, no_operation, active_mask;
};

struct LevelTables {
    bool (*select_form)(const Form& form, Selected& out);
    const AccessTable* access;
    const MoveTable* moves;
};

// Whether this level was linked in and this processor can run it.
bool can_run(ProcessorLevel level);
// The highest of those, or a lower one that limit_level set.
ProcessorLevel best_level();
// Lowers best_level(), for tests. Applies to code that is decoded later.
void limit_level(ProcessorLevel most);

// The level must satisfy can_run().
const LevelTables& level_tables(ProcessorLevel level);
// The handlers of best_level().
const AccessTable& access_handlers();
const MoveTable& move_handlers();

}  // namespace machine
