// SPDX-License-Identifier: MIT
// Parses declarations of modules, function headers and bodies: variables with their initialisers,
// parameters, and their directives.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ptx/parse/lexer.h"

namespace ptx {

// Everything written before the name of a variable, register or parameter, in any order.
struct Specifiers {
    Space space = Space::kNone;
    Type type = Type::kNone;
    uint8_t vector = 1;
    uint32_t align = 0;  // 0: not written
    bool is_register = false, is_extern = false, is_managed = false;
    bool is_texture = false, is_surface = false;  // opaque references
    uint32_t line = 0;

    uint64_t element_bytes() const;
};

// Parses dotted tokens until a name; the space may be missing. Throws ParseError.
Specifiers parse_specifiers(Lexer& lexer);

// Names that do not occur in the text, such as x3, the fourth of `x<4>`: they must live as long as
// the text.
using MadeNames = std::deque<std::string>;

// `<4>` after a name (PTX ISA "Parameterized Variable Names"): the names that it expands to, or the
// name alone without it.
std::vector<std::string_view> parse_names(Lexer& lexer, std::string_view name, MadeNames& made);

// `.const[2]` of PTX ISA 1 and 2 ("Banked Constant State Space"); the lexer is after `token`, the
// `.const`. Banks share one address space here, so the number is ignored.
void skip_bank(Lexer& lexer, Space space, const Token& token);

// A name with its dimensions and initialiser, up to ',' or ';'. A parameterized name gives several
// variables.
std::vector<Variable> parse_variables(Lexer& lexer, const Specifiers& specifiers, MadeNames& made);

// The greatest size of an argument for a parameter without a size.
constexpr uint32_t kUnsizedBytes = 1024;

// Parses one parameter, with the lexer at its name, and appends it to `out`.
void parse_parameter(Lexer& lexer, const Specifiers& specifiers, std::vector<Parameter>& out);

// `(a, b, ...)`, the lexer at '('. Computes offsets. `registers` (may be null) gets one flag for
// each parameter that is declared in the .reg space.
std::vector<Parameter> parse_parameters(Lexer& lexer, std::vector<bool>* registers);

}  // namespace ptx
