// SPDX-License-Identifier: MIT
// What ptxas refuses in an instruction whose words are all known: a modifier that its type does not
// take, a missing rounding mode, a register or constant of another type.
#pragma once

#include <optional>
#include <string>

#include "ptx/module.h"

namespace ptx {

struct Complaint {
    std::string token;    // what is wrong, as written; may be empty
    std::string message;  // what would be right
};

// The first thing wrong with `in`, a parsed instruction of `function`; nothing for instructions
// without a rule. `target`: 75 for sm_75.
std::optional<Complaint> complaint_about(const Instruction& in, const Function& function,
                                         unsigned target);
// The part of it about registers and constants.
std::optional<Complaint> complaint_about_operands(const Instruction& in, const Function& function);

// Whether `in` works on .f32 and takes .ftz.
bool may_flush(const Instruction& in);

}  // namespace ptx
