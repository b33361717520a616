// SPDX-License-Identifier: MIT
// Splits PTX text into tokens. No word is reserved: the parser decides whether `min` is an opcode,
// a label or a kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"

namespace ptx {

struct Token {
    enum class Kind : uint8_t {
        kEnd,
        kName,     // an identifier, with its % or $: %r1, $L__BB0_1, _
        kDotted,   // .global, .L2::128B: dot included
        kInteger,  // `bits`
        kFloat32,  // 0f3F800000: `bits`
        kFloat64,  // 0d..., 1.5, 1e3: `bits`
        kString,   // text without the quotes, escapes untouched
        kPunct,    // `punct`: one character, or two as (first << 8 | second)
    };
    Kind kind = Kind::kEnd;
    bool is_unsigned = false;  // an integer with the suffix U
    uint16_t punct = 0;
    uint32_t line = 1;
    uint64_t bits = 0;
    std::string_view text;

    bool is(char c) const { return kind == Kind::kPunct && punct == uint16_t(c); }
    bool is(char a, char b) const {
        return kind == Kind::kPunct && punct == (uint16_t(a) << 8 | uint16_t(b));
    }
    bool is_name(std::string_view name) const { return kind == Kind::kName && text == name; }
    bool is_dotted(std::string_view name) const { return kind == Kind::kDotted && text == name; }
};

// Looks one token ahead. `text` and `module_name` must outlive the lexer. Every function that
// advances it may throw ParseError.
class Lexer {
public:
    Lexer(std::string_view text, std::string_view module_name, size_t position = 0,
          uint32_t line = 1);

    const Token& peek() const { return token_; }
    Token take();
    void advance();
    bool accept(char c);
    bool accept_dotted(std::string_view name);
    // These throw "expected ..." with the place and the token that was found instead.
    void expect(char c, std::string_view context);
    Token expect_name(std::string_view what);
    uint64_t expect_integer(std::string_view what);

    // True if the token ahead touches the end of `before`: `%tid` and `.x`.
    bool adjacent(const Token& before) const {
        return token_.text.data() == before.text.data() + before.text.size();
    }
    // The first character after the token ahead that is not white space; 0 at the end.
    char after_token() const;

    // Reads plain integers that are each followed by a comma, `1, 2, 3,`, and appends their values.
    // Reading tables with thousands of numbers in this way avoids creating tokens.
    void take_integers(std::vector<uint64_t>& out);

    // The token ahead is '{': moves past the matching '}' without lexing what is between.
    void skip_braces();
    // Moves past the next ';' outside of braces; a '}' without an opening brace is an error.
    void skip_statement();
    void skip_line();

    size_t token_begin() const { return begin_; }  // offset of the token ahead
    std::string_view text() const { return text_; }

    [[noreturn]] void fail(std::string_view expected) const { fail(token_, expected); }
    [[noreturn]] void fail(const Token& token, std::string_view expected) const;
    [[noreturn]] void fail(uint32_t line, std::string_view token, std::string_view message) const;

private:
    bool is_line_marker() const;
    void skip_space();
    void lex_name();
    void lex_dotted();
    bool is_fraction() const;
    void lex_number();
    void lex_hex_float(size_t digits);
    void lex_string();
    void lex_punct();

    std::string_view text_, module_name_;
    size_t position_;  // after the token ahead
    size_t begin_ = 0;
    uint32_t line_;
    Token token_;
};

}  // namespace ptx
