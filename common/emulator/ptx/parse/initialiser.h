// SPDX-License-Identifier: MIT
// The value after `=` of a variable (PTX ISA "Variable Initializers").
#pragma once

#include "ptx/parse/lexer.h"

namespace ptx {

// Fills `out.initial` and `out.fixups`; out.type is the type of one element. `dimensions`:
// outermost first, a vector's width last, and 0 for the first one when `unsized`. Returns the
// number of bytes that the value covers, which is the size of an unsized array. Throws ParseError.
uint64_t parse_initialiser(Lexer& lexer, const std::vector<uint64_t>& dimensions, bool unsized,
                           Variable& out);

}  // namespace ptx
