// SPDX-License-Identifier: MIT
// Picks the processor level of the memory and move handlers, once.
#include "machine/lane_tables.h"

#include "machine/arith_core.h"

namespace machine {

namespace portable {
AccessTable access_table();
MoveTable move_table();
}  // namespace portable
#ifdef ARITH_HAS_NEWER
namespace newer {
AccessTable access_table();
MoveTable move_table();
}  // namespace newer
#endif

const AccessTable& access_handlers() {
#ifdef ARITH_HAS_NEWER
    static const AccessTable table =
        can_run(ArithmeticLevel::kNewer) ? newer::access_table() : portable::access_table();
#else
    static const AccessTable table = portable::access_table();
#endif
    return table;
}

const MoveTable& move_handlers() {
#ifdef ARITH_HAS_NEWER
    static const MoveTable table =
        can_run(ArithmeticLevel::kNewer) ? newer::move_table() : portable::move_table();
#else
    static const MoveTable table = portable::move_table();
#endif
    return table;
}

}  // namespace machine
