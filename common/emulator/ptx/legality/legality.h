// SPDX-License-Identifier: MIT
// Detects instructions that parse but that ptxas refuses: a modifier that the type does not allow,
// a missing rounding mode, a register or constant of another type.
#pragma once

#include <optional>
#include <string>

#include "ptx/module.h"

namespace ptx {

struct Complaint {
    std::string token;    // what is wrong, as written; may be empty
    std::string message;  // what is expected instead
};

// The first error in `in`, a parsed instruction of `function`; nothing for instructions without a
// rule. `target`: 75 for sm_75.
std::optional<Complaint> complaint_about(const Instruction& in, const Function& function,
                                         unsigned target);
// The checks of registers and constants only.
std::optional<Complaint> complaint_about_operands(const Instruction& in, const Function& function);

// Whether `in` operates on .f32 and accepts .ftz.
bool may_flush(const Instruction& in);

}  // namespace ptx
