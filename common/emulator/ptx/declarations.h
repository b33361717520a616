// SPDX-License-Identifier: MIT
// Declarations shared by modules, function headers and bodies: variables with their initialisers,
// parameters, and the directives around them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ptx/lexer.h"

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

// Reads dotted tokens until a name; the space may be missing. Throws ParseError.
Specifiers parse_specifiers(Lexer& lexer);

// Names that the text does not spell out, as the fourth of `x<4>` is x3: they live as long as it.
using MadeNames = std::deque<std::string>;

// `<4>` behind a name (PTX ISA "Parameterized Variable Names"): the names that it stands for; the
// name alone where nothing of the kind follows.
std::vector<std::string_view> parse_names(Lexer& lexer, std::string_view name, MadeNames& made);

// `.const[2]` of PTX ISA 1 and 2 ("Banked Constant State Space"), the lexer behind `token`, the
// `.const`: banks share one address space here, so the number says nothing.
void skip_bank(Lexer& lexer, Space space, const Token& token);

// The name at the lexer, its dimensions and its initialiser, up to ',' or ';'. Several variables
// for a name with a number of them.
std::vector<Variable> parse_variables(Lexer& lexer, const Specifiers& specifiers, MadeNames& made);

// The most that may be passed for a parameter without a size.
constexpr uint32_t kUnsizedBytes = 1024;

// One parameter, the lexer at its name: appended to `out`, behind what that holds.
void parse_parameter(Lexer& lexer, const Specifiers& specifiers, std::vector<Parameter>& out);

// `(a, b, ...)`, the lexer at '('. Computes offsets. `registers` (may be null) gets one flag for
// each parameter that is declared in the .reg space.
std::vector<Parameter> parse_parameters(Lexer& lexer, std::vector<bool>* registers);

}  // namespace ptx
