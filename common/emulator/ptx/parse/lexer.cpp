// SPDX-License-Identifier: MIT
#include "ptx/parse/lexer.h"

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ptx {
namespace {

enum : uint8_t { kFollows = 1, kDigit = 2, kBlank = 4, kStops = 8, kHex = 16 };

// kFollows: allowed inside an identifier. kStops: relevant to brace matching.
constexpr std::array<uint8_t, 256> make_classes() {
    std::array<uint8_t, 256> classes{};
    for (int c = 'a'; c <= 'z'; ++c) classes[size_t(c)] |= kFollows;
    for (int c = 'A'; c <= 'Z'; ++c) classes[size_t(c)] |= kFollows;
    for (int c = '0'; c <= '9'; ++c) classes[size_t(c)] |= kFollows | kDigit | kHex;
    for (int c = 'a'; c <= 'f'; ++c) classes[size_t(c)] |= kHex;
    for (int c = 'A'; c <= 'F'; ++c) classes[size_t(c)] |= kHex;
    for (const char c : {'_', '$'}) classes[size_t(c)] |= kFollows;
    for (const char c : {' ', '\t', '\r', '\n', '\f', '\v'}) classes[size_t(c)] |= kBlank;
    for (const char c : {'{', '}', '"', '/', '\n', ';'}) classes[size_t(c)] |= kStops;
    return classes;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();
bool in(char c, uint8_t what) {
    return kClasses[uint8_t(c)] & what;
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return (c | 0x20) - 'a' + 10;
}

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
    while (at < text_.size() && in(text_[at], kBlank)) ++at;
    return at < text_.size() ? text_[at] : '\0';
}

// `# 5 "file"` or `#line 5 "file"`, left over from a C preprocessor. ptxas skips them.
bool Lexer::is_line_marker() const {
    if (text_[position_] != '#') return false;
    size_t at = position_ + 1;
    const auto blanks = [&] {
        while (at < text_.size() && text_[at] != '\n' && in(text_[at], kBlank)) ++at;
    };
    blanks();
    if (text_.substr(at, 4) == "line") at += 4;
    blanks();
    const size_t digits = at;
    while (at < text_.size() && in(text_[at], kDigit)) ++at;
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
        } else if (in(c, kBlank)) {
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
    if (in(c, kDigit) || is_fraction()) {
        lex_number();
    } else if (in(c, kFollows) ||
               (c == '%' && in(next, kFollows) && !(after_value && in(next, kDigit)))) {
        lex_name();
    } else if (c == '.' && in(next, kFollows)) {
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
    while (position_ < text_.size() && in(text_[position_], kFollows)) ++position_;
}

// `.5` and `.5e-3` are numbers; `.1d` and `.2dms` are modifiers.
bool Lexer::is_fraction() const {
    size_t at = position_;
    if (text_[at] != '.') return false;
    const size_t digits = ++at;
    while (at < text_.size() && in(text_[at], kDigit)) ++at;
    if (at == digits) return false;
    if (at < text_.size() && (text_[at] | 0x20) == 'e') {
        ++at;
        if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) ++at;
        const size_t exponent = at;
        while (at < text_.size() && in(text_[at], kDigit)) ++at;
        if (at == exponent) return false;
    }
    return at == text_.size() || !in(text_[at], kFollows);
}

void Lexer::lex_dotted() {
    token_.kind = Token::Kind::kDotted;
    ++position_;
    while (position_ < text_.size()) {
        if (in(text_[position_], kFollows)) {
            ++position_;
        } else if (position_ + 2 < text_.size() && text_.substr(position_, 2) == "::" &&
                   in(text_[position_ + 2], kFollows)) {
            position_ += 2;
        } else {
            return;
        }
    }
}

void Lexer::lex_hex_float(size_t digits) {
    position_ += 2;
    for (size_t i = 0; i < digits; ++i, ++position_) {
        if (position_ >= text_.size() || !in(text_[position_], kHex)) {
            fail(line_,
                 text_.substr(begin_, position_ - begin_),
                 "expected " + std::to_string(digits) + " hexadecimal digits of a float");
        }
        token_.bits = token_.bits << 4 | uint64_t(hex_value(text_[position_]));
    }
}

void Lexer::lex_number() {
    const char c = text_[position_];
    const char kind = position_ + 1 < text_.size() ? char(text_[position_ + 1] | 0x20) : '\0';
    if (c == '0' && kind == 'f') {
        token_.kind = Token::Kind::kFloat32;
        lex_hex_float(8);
    } else if (c == '0' && kind == 'd') {
        token_.kind = Token::Kind::kFloat64;
        lex_hex_float(16);
    } else {
        token_.kind = Token::Kind::kInteger;
        unsigned base = 10;
        if (c == '0' && kind == 'x') base = 16;
        if (c == '0' && kind == 'b') base = 2;
        if (base != 10) position_ += 2;
        const size_t digits = position_;
        bool overflow = false, octal_digits = true;
        for (; position_ < text_.size() && in(text_[position_], base == 16 ? kHex : kDigit);
             ++position_) {
            const unsigned digit = unsigned(hex_value(text_[position_]));
            if (base == 2 && digit > 1) break;
            octal_digits = octal_digits && digit < 8;
            overflow = overflow || token_.bits > (UINT64_MAX - digit) / base;
            token_.bits = token_.bits * base + digit;
        }
        const size_t count = position_ - digits;
        const bool has_more = position_ < text_.size();
        const char stop = has_more ? text_[position_] : '\0';
        const char stop2 = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
        const bool exponent =
            (stop == 'e' || stop == 'E') && (in(stop2, kDigit) || stop2 == '-' || stop2 == '+');
        if (base == 10 && (stop == '.' || exponent)) {
            if (stop == '.') {
                ++position_;
                while (position_ < text_.size() && in(text_[position_], kDigit)) ++position_;
            }
            if (position_ < text_.size() && (text_[position_] | 0x20) == 'e') {
                ++position_;
                if (position_ < text_.size() &&
                    (text_[position_] == '-' || text_[position_] == '+')) {
                    ++position_;
                }
                while (position_ < text_.size() && in(text_[position_], kDigit)) ++position_;
            }
            const std::string spelled(text_.substr(begin_, position_ - begin_));
            char* end = nullptr;
            token_.kind = Token::Kind::kFloat64;
            token_.bits = std::bit_cast<uint64_t>(std::strtod(spelled.c_str(), &end));
            if (*end != '\0') fail(line_, spelled, "expected a floating-point number");
        } else {
            if (base == 10 && c == '0' && count > 1) {
                if (!octal_digits)
                    fail(line_,
                         text_.substr(begin_, count),
                         "expected octal digits after a leading 0");
                token_.bits = 0;
                overflow = false;
                for (size_t i = digits; i < position_; ++i) {
                    overflow = overflow || token_.bits >> 61 != 0;
                    token_.bits = token_.bits << 3 | uint64_t(text_[i] - '0');
                }
            }
            if (count == 0) fail(line_, text_.substr(begin_, 2), "expected digits of a number");
            if (overflow)
                fail(line_,
                     text_.substr(begin_, position_ - begin_),
                     "expected an integer of at most 64 bits");
            if (stop == 'U' || stop == 'u') {
                token_.is_unsigned = true;
                ++position_;
            }
        }
    }
    if (position_ < text_.size() && in(text_[position_], kFollows)) {
        fail(line_, text_.substr(begin_, position_ - begin_ + 1), "expected a number to end here");
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
            for (; at < text_.size() && in(text_[at], kBlank); ++at) line += text_[at] == '\n';
        };
        skip_blanks();
        for (;;) {
            position_ = ++at;  // after the comma
            line_ = line;
            skip_blanks();
            const size_t digits = at;
            uint64_t value = 0;
            for (; at < text_.size() && in(text_[at], kDigit) && at - digits < 18; ++at) {
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
        while (position_ < text_.size() && !in(text_[position_], kStops)) ++position_;
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
