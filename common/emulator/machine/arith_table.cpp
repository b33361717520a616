// SPDX-License-Identifier: MIT
// Tries the instruction groups in turn. Compiled once per processor level.
#include "machine/arith_core.h"

namespace machine::ARITH_NS {

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

}  // namespace machine::ARITH_NS
