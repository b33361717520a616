// SPDX-License-Identifier: MIT
// The handlers and movers that access.cpp and moves.cpp offer, as tables: both files are compiled
// once per processor level, and lane_tables.cpp picks the level.
#pragma once

#include "machine/code.h"

namespace machine {

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

// The best of this processor.
const AccessTable& access_handlers();
const MoveTable& move_handlers();

}  // namespace machine
