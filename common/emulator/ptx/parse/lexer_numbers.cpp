// SPDX-License-Identifier: MIT
// Reads the numbers of PTX text (PTX ISA "Constants").
#include <bit>
#include <cstdlib>

#include "ptx/parse/characters.h"
#include "ptx/parse/lexer.h"

namespace ptx {
namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return (c | 0x20) - 'a' + 10;
}

}  // namespace

// `.5` and `.5e-3` are numbers; `.1d` and `.2dms` are modifiers.
bool Lexer::is_fraction() const {
    size_t at = position_;
    if (text_[at] != '.') return false;
    const size_t digits = ++at;
    while (at < text_.size() && has_class(text_[at], kDigit)) ++at;
    if (at == digits) return false;
    if (at < text_.size() && (text_[at] | 0x20) == 'e') {
        ++at;
        if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) ++at;
        const size_t exponent = at;
        while (at < text_.size() && has_class(text_[at], kDigit)) ++at;
        if (at == exponent) return false;
    }
    return at == text_.size() || !has_class(text_[at], kFollows);
}

void Lexer::lex_hex_float(size_t digits) {
    position_ += 2;
    for (size_t i = 0; i < digits; ++i, ++position_) {
        if (position_ >= text_.size() || !has_class(text_[position_], kHex)) {
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
        for (; position_ < text_.size() && has_class(text_[position_], base == 16 ? kHex : kDigit);
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
        const bool exponent = (stop == 'e' || stop == 'E') &&
                              (has_class(stop2, kDigit) || stop2 == '-' || stop2 == '+');
        if (base == 10 && (stop == '.' || exponent)) {
            if (stop == '.') {
                ++position_;
                while (position_ < text_.size() && has_class(text_[position_], kDigit)) ++position_;
            }
            if (position_ < text_.size() && (text_[position_] | 0x20) == 'e') {
                ++position_;
                if (position_ < text_.size() &&
                    (text_[position_] == '-' || text_[position_] == '+')) {
                    ++position_;
                }
                while (position_ < text_.size() && has_class(text_[position_], kDigit)) ++position_;
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
    if (position_ < text_.size() && has_class(text_[position_], kFollows)) {
        fail(line_, text_.substr(begin_, position_ - begin_ + 1), "expected a number to end here");
    }
}

}  // namespace ptx
