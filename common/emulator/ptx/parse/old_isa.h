// SPDX-License-Identifier: MIT
// Adds what PTX ISA 1 leaves implicit: PTX ISA "Release Notes", and the defaults in each
// instruction's section for sm_1x and for versions before 1.4.
#pragma once

#include "ptx/parse/index.h"

namespace ptx {

// Before PTX ISA 1.4, which introduced parameter lists, a kernel declares its parameters in its
// body.
bool declares_parameters_in_body(const ModuleIndex& index);

// Those parameters, in order, with their offsets; the lexer is at the body's '{'. Throws
// ParseError.
std::vector<Parameter> parse_body_parameters(Lexer lexer);

// Adds the modifiers that the module's version and target imply: the rounding that later versions
// require, and .ftz, which sm_1x applies everywhere.
void complete_modifiers(Instruction& in, const ModuleIndex& index);

}  // namespace ptx
