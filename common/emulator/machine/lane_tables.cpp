// SPDX-License-Identifier: MIT
// Picks the processor level of the memory and move handlers, once.
#include "machine/lane_tables.h"

#include "machine/arith_core.h"

namespace machine {

#ifdef ARITH_HAS_NEWER
#define EACH_LEVEL(name) name(portable) name(newer) name(newest)
#else
#define EACH_LEVEL(name) name(portable)
#endif

#define DECLARE(level)                                                                             \
    namespace level {                                                                              \
    AccessTable access_table();                                                                    \
    MoveTable move_table();                                                                        \
    }
EACH_LEVEL(DECLARE)
#undef DECLARE

const AccessTable& access_handlers() {
#define TABLE(level) level::access_table(),
    static const AccessTable tables[] = {EACH_LEVEL(TABLE)};
#undef TABLE
    static const AccessTable& table = tables[int(best_level())];
    return table;
}

const MoveTable& move_handlers() {
#define TABLE(level) level::move_table(),
    static const MoveTable tables[] = {EACH_LEVEL(TABLE)};
#undef TABLE
    static const MoveTable& table = tables[int(best_level())];
    return table;
}

}  // namespace machine
