// SPDX-License-Identifier: MIT
// Splits PTX text into tokens; lexer_numbers.cpp reads the numbers.
#include "ptx/parse/lexer.h"

#include <cstdio>
#include <cstring>

#include "ptx/parse/characters.h"

namespace ptx {
namespace {

std::string printable(std::string_view token) {
    std::string out;
    for (const char c : token.substr(0, 40)) {
        if (c >= ' ' && c < 127) {
            out += c;
        } else {
            char code[8];
            std::snprintf(code, sizeof code, "\\x%02x", unsigned(uint8_t(c)));
            out += code;
        }
    }
    if (token.size() > 40) out += "...";
    return out;
}

}  // namespace

Lexer::Lexer(std::string_view text, std::string_view module_name, size_t position, uint32_t line)
    : text_(text), module_name_(module_name), position_(position), line_(line) {
    position_ = std::min(position_, text_.size());
    advance();
}

void Lexer::fail(uint32_t line, std::string_view token, std::string_view message) const {
    std::string what(module_name_.empty() ? "PTX" : module_name_);
    what += ": PTX line " + std::to_string(line);
    if (!token.empty()) what += ", at '" + printable(token) + "'";
    what += ": ";
    what += message;
    throw ParseError(what);
}

void Lexer::fail(const Token& token, std::string_view expected) const {
    fail(token.line,
         token.kind == Token::Kind::kEnd ? "end of the text" : token.text,
         "expected " + std::string(expected));
}

Token Lexer::take() {
    const Token token = token_;
    advance();
    return token;
}

bool Lexer::accept(char c) {
    if (!token_.is(c)) return false;
    advance();
    return true;
}

bool Lexer::accept_dotted(std::string_view name) {
    if (!token_.is_dotted(name)) return false;
    advance();
    return true;
}

void Lexer::expect(char c, std::string_view context) {
    if (!accept(c)) fail("'" + std::string(1, c) + "' " + std::string(context));
}

Token Lexer::expect_name(std::string_view what) {
    if (token_.kind != Token::Kind::kName) fail(what);
    return take();
}

uint64_t Lexer::expect_integer(std::string_view what) {
    if (token_.kind != Token::Kind::kInteger) fail(what);
    return take().bits;
}

char Lexer::after_token() const {
    size_t at = position_;
    while (at < text_.size() && has_class(text_[at], kBlank)) ++at;
    return at < text_.size() ? text_[at] : '\0';
}

// `# 5 "file"` or `#line 5 "file"`, left over from a C preprocessor. ptxas skips them.
bool Lexer::is_line_marker() const {
    if (text_[position_] != '#') return false;
    size_t at = position_ + 1;
    const auto blanks = [&] {
        while (at < text_.size() && text_[at] != '\n' && has_class(text_[at], kBlank)) ++at;
    };
    blanks();
    if (text_.substr(at, 4) == "line") at += 4;
    blanks();
    const size_t digits = at;
    while (at < text_.size() && has_class(text_[at], kDigit)) ++at;
    if (at == digits) return false;
    blanks();
    return at < text_.size() && text_[at] == '"';
}

void Lexer::skip_space() {
    while (position_ < text_.size()) {
        const char c = text_[position_];
        if (c == '\n') {
            ++line_;
            ++position_;
        } else if (has_class(c, kBlank)) {
            ++position_;
        } else if ((c == '/' && text_.substr(position_, 2) == "//") || is_line_marker()) {
            const size_t end = text_.find('\n', position_);
            position_ = end == std::string_view::npos ? text_.size() : end;
        } else if (c == '/' && text_.substr(position_, 2) == "/*") {
            const size_t end = text_.find("*/", position_ + 2);
            if (end == std::string_view::npos)
                fail(line_, "/*", "expected '*/' before the end of the text");
            for (; position_ < end; ++position_) line_ += text_[position_] == '\n';
            position_ = end + 2;
        } else {
            return;
        }
    }
}

void Lexer::advance() {
    skip_space();
    begin_ = position_;
    // `7%5` is a remainder, although `%5` might be a register elsewhere.
    const bool after_value = token_.kind == Token::Kind::kInteger || token_.is(')');
    token_ = Token{};
    token_.line = line_;
    if (position_ >= text_.size()) {
        token_.text = text_.substr(text_.size());
        return;
    }
    const char c = text_[position_];
    const char next = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
    if (has_class(c, kDigit) || is_fraction()) {
        lex_number();
    } else if (has_class(c, kFollows) || (c == '%' && has_class(next, kFollows) &&
                                          !(after_value && has_class(next, kDigit)))) {
        lex_name();
    } else if (c == '.' && has_class(next, kFollows)) {
        lex_dotted();
    } else if (c == '"') {
        lex_string();
    } else {
        lex_punct();
    }
    if (token_.kind != Token::Kind::kString) token_.text = text_.substr(begin_, position_ - begin_);
}

void Lexer::lex_name() {
    token_.kind = Token::Kind::kName;
    ++position_;
    while (position_ < text_.size() && has_class(text_[position_], kFollows)) ++position_;
}

void Lexer::lex_dotted() {
    token_.kind = Token::Kind::kDotted;
    ++position_;
    while (position_ < text_.size()) {
        if (has_class(text_[position_], kFollows)) {
            ++position_;
        } else if (position_ + 2 < text_.size() && text_.substr(position_, 2) == "::" &&
                   has_class(text_[position_ + 2], kFollows)) {
            position_ += 2;
        } else {
            return;
        }
    }
}

void Lexer::lex_string() {
    const size_t first = ++position_;
    while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
        if (text_[position_] == '\\' && position_ + 1 < text_.size() &&
            text_[position_ + 1] != '\n') {
            ++position_;
        }
        ++position_;
    }
    if (position_ >= text_.size() || text_[position_] != '"') {
        fail(line_,
             text_.substr(begin_, position_ - begin_),
             "expected '\"' at the end of the string");
    }
    token_.kind = Token::Kind::kString;
    token_.text = text_.substr(first, position_ - first);
    ++position_;
}

void Lexer::lex_punct() {
    const char c = text_[position_];
    const char next = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
    if (!std::strchr("{}[]()<>,;:=+-*/%&|^!~?@.", c)) {
        fail(line_,
             text_.substr(position_, 1),
             "expected PTX, found a character that PTX does not use");
    }
    token_.kind = Token::Kind::kPunct;
    token_.punct = uint16_t(uint8_t(c));
    ++position_;
    const bool doubled = next == c && std::strchr("<>&|=", c) != nullptr;
    const bool compares = next == '=' && std::strchr("<>!", c) != nullptr;
    if (doubled || compares) {
        token_.punct = uint16_t(uint8_t(c) << 8 | uint8_t(next));
        ++position_;
    }
}

void Lexer::take_integers(std::vector<uint64_t>& out) {
    while (token_.kind == Token::Kind::kInteger && after_token() == ',') {
        out.push_back(token_.bits);
        // Decimal numbers are parsed here; everything else goes through advance().
        size_t at = position_;
        uint32_t line = line_;
        const auto skip_blanks = [&] {
            for (; at < text_.size() && has_class(text_[at], kBlank); ++at)
                line += text_[at] == '\n';
        };
        skip_blanks();
        for (;;) {
            position_ = ++at;  // after the comma
            line_ = line;
            skip_blanks();
            const size_t digits = at;
            uint64_t value = 0;
            for (; at < text_.size() && has_class(text_[at], kDigit) && at - digits < 18; ++at) {
                value = value * 10 + uint64_t(text_[at] - '0');
            }
            const bool octal = at - digits > 1 && text_[digits] == '0';
            if (at == digits || octal) break;
            skip_blanks();
            if (at >= text_.size() || text_[at] != ',') break;
            out.push_back(value);
        }
        advance();
    }
}

void Lexer::skip_braces() {
    const uint32_t opened = token_.line;
    if (!token_.is('{')) fail("'{'");
    for (size_t depth = 1; depth > 0;) {
        while (position_ < text_.size() && !has_class(text_[position_], kStops)) ++position_;
        if (position_ >= text_.size())
            fail(opened, "{", "expected the matching '}' before the end of the text");
        switch (text_[position_]) {
        case '{':
            ++depth;
            ++position_;
            break;
        case '}':
            --depth;
            ++position_;
            break;
        case '"':
            begin_ = position_;
            lex_string();
            break;
        case '/': {
            const size_t before = position_;
            skip_space();
            if (position_ == before) ++position_;
            break;
        }
        default:
            line_ += text_[position_] == '\n';
            ++position_;
        }
    }
    advance();
}

void Lexer::skip_statement() {
    for (size_t depth = 0;; advance()) {
        if (token_.kind == Token::Kind::kEnd) fail("';'");
        if (token_.is('{')) ++depth;
        if (token_.is('}') && depth-- == 0) fail("';' before '}'");
        if (token_.is(';') && depth == 0) break;
    }
    advance();
}

void Lexer::skip_line() {
    const size_t end = text_.find('\n', begin_);
    position_ = end == std::string_view::npos ? text_.size() : end;
    line_ = token_.line;
    advance();
}

}  // namespace ptx
