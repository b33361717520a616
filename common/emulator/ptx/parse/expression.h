// SPDX-License-Identifier: MIT
// Constant expressions (PTX ISA "Constant Expressions"): offsets, immediates and initialisers.
#pragma once

#include "ptx/parse/lexer.h"

namespace ptx {

struct Constant {
    enum class Kind : uint8_t { kSigned, kUnsigned, kFloat32, kFloat64 };
    Kind kind = Kind::kSigned;
    uint64_t bits = 0;

    bool is_float() const { return kind == Kind::kFloat32 || kind == Kind::kFloat64; }
    double as_double() const;  // the value, whatever the kind
};

// Parses the longest expression at the lexer. Throws ParseError.
Constant parse_constant(Lexer& lexer);
// The same without binary operators: `-4`, `(1<<4)`.
Constant parse_unary_constant(Lexer& lexer);
// An integer; a float is an error naming `what`.
uint64_t parse_integer(Lexer& lexer, std::string_view what);
// Any number of `+ expression` and `- expression`, wrapping; 0 if there is none.
int64_t parse_offset(Lexer& lexer);

}  // namespace ptx
