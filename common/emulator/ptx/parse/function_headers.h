// SPDX-License-Identifier: MIT
// Parts of a function's header: its directives, and the rules for its parameters.
#pragma once

#include "ptx/parse/index.h"

namespace ptx {

// Whether `token` begins a statement of a module: what may follow a declaration without ';'.
bool starts_statement(const Token& token);

// PTX ISA "Performance-Tuning Directives" and "Cluster Dimension Directives": the numbers after
// `token`. Throws ParseError.
void parse_tuning(Lexer& lexer, const Token& token, FunctionHeader& header);

// PTX ISA "Kernel Function Parameters": throws ParseError if they break a rule.
void check_kernel_parameters(const Lexer& lexer, const Token& name, const FunctionHeader& header,
                             const BodyPlace& place);

// Reserves space for a device function's unsized parameter; throws ParseError unless it is the
// last.
void make_room(const Lexer& lexer, const Token& name, FunctionHeader& header);

}  // namespace ptx
