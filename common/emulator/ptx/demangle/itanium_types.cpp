// SPDX-License-Identifier: MIT
// Parses the types, template arguments and expressions of mangled names.
#include "ptx/demangle/itanium_reader.h"

namespace ptx::itanium {
namespace {

constexpr std::string_view kUnary = "ps ng ad de co nt pp mm nw dl te sz az nx sp sZ tw";
constexpr std::string_view kBinary =
    "pl mi ml dv rm an or eo aS pL mI mL dV rM aN oR eO ls rs lS rS eq ne lt gt le ge ss aa oo cm "
    "pm pt ix dt ds";

std::string_view builtin(char c) {
    switch (c) {
    case 'v':
        return "void";
    case 'w':
        return "wchar_t";
    case 'b':
        return "bool";
    case 'c':
        return "char";
    case 'a':
        return "signed char";
    case 'h':
        return "unsigned char";
    case 's':
        return "short";
    case 't':
        return "unsigned short";
    case 'i':
        return "int";
    case 'j':
        return "unsigned";
    case 'l':
        return "long";
    case 'm':
        return "unsigned long";
    case 'x':
        return "long long";
    case 'y':
        return "unsigned long long";
    case 'n':
        return "__int128";
    case 'o':
        return "unsigned __int128";
    case 'f':
        return "float";
    case 'd':
        return "double";
    case 'e':
        return "long double";
    case 'g':
        return "__float128";
    case 'z':
        return kLong;
    default:
        return {};
    }
}

bool has_code(std::string_view list, std::string_view code) {
    for (size_t at = 0; at < list.size(); at += 3) {
        if (list.substr(at, 2) == code) return true;
    }
    return false;
}

}  // namespace

std::string Reader::template_parameter() {
    expect("T");
    if (accept("L")) {
        skip_digits();
        expect("_");
    }
    skip_digits();
    expect("_");
    return "T";
}

std::string Reader::arguments(Name& out) {
    out.back().is_template = true;
    out.back().arguments = "<...>";  // the result if parsing fails below
    std::string text;
    expect("I");
    while (!accept("E")) {
        const std::string one = argument();
        text = clipped(text.empty() ? one : text + ", " + one);
    }
    out.back().arguments = "<" + text + ">";
    return out.back().arguments;
}

std::string Reader::argument() {
    const Level level(*this);
    if (peek() == 'L') return literal();
    if (accept("X")) {
        expression();
        expect("E");
        return std::string(kLong);
    }
    if (accept("J")) {
        std::string text;
        while (!accept("E")) {
            const std::string one = argument();
            text = clipped(text.empty() ? one : text + ", " + one);
        }
        return text;
    }
    return type();
}

std::string Reader::literal() {
    const Level level(*this);
    expect("L");
    if (accept("_Z")) {
        Name inner;
        encoding(inner, true);
        expect("E");
        return inner.empty() ? std::string(kLong) : inner.back().name;
    }
    if (accept("DnE")) return "nullptr";
    const bool is_bool = peek() == 'b';
    type();
    std::string value = accept("n") ? "-" : "";
    while (peek() != 'E' && peek() != '\0') value += text_[at_++];
    expect("E");
    if (is_bool) return value == "0" ? "false" : "true";
    return value.empty() ? std::string(kLong) : clipped(std::move(value));
}

void Reader::expression() {
    const Level level(*this);
    if (peek() == 'L') {
        literal();
        return;
    }
    if (peek() == 'T') {
        template_parameter();
        if (peek() == 'I') skip_arguments();
        return;
    }
    if (accept("fpT")) return;
    if (peek() == 'f' && (peek(1) == 'p' || peek(1) == 'L')) {
        at_ += 2;
        while (is_digit(peek()) || peek() == 'p' || peek() == 'K') ++at_;
        expect("_");
        return;
    }
    if (accept("sr")) {
        type();
        unresolved();
        return;
    }
    if (accept("cl") || accept("tl")) {
        if (text_[at_ - 2] == 't') type();
        while (!accept("E")) expression();
        return;
    }
    if (accept("il")) {
        while (!accept("E")) expression();
        return;
    }
    if (accept("cv")) {
        type();
        if (accept("_")) {
            while (!accept("E")) expression();
        } else {
            expression();
        }
        return;
    }
    if (accept("sc") || accept("dc") || accept("rc") || accept("cc")) {
        type();
        expression();
        return;
    }
    if (accept("st") || accept("at") || accept("ti")) {
        type();
        return;
    }
    if (accept("sP")) {
        while (!accept("E")) argument();
        return;
    }
    if (accept("qu")) {
        expression();
        expression();
        expression();
        return;
    }
    accept("gs");
    const std::string_view code = text_.substr(at_, 2);
    if (has_code(kUnary, code)) {
        at_ += 2;
        if (code == "pp" || code == "mm") accept("_");
        expression();
    } else if (has_code(kBinary, code)) {
        at_ += 2;
        expression();
        expression();
    } else {
        unresolved();
    }
}

void Reader::unresolved() {
    if (accept("on")) {
        unqualified({});
    } else {
        source_name();
    }
    if (peek() == 'I') skip_arguments();
}

void Reader::skip_arguments() {
    Name ignored(1);
    arguments(ignored);
}

std::string Reader::type() {
    const Level level(*this);
    const char c = peek();
    std::string out;
    if (c == 'r' || c == 'V' || c == 'K') {
        bool is_const = false;
        while (peek() == 'r' || peek() == 'V' || peek() == 'K') is_const |= text_[at_++] == 'K';
        out = type();
        if (is_const) out = clipped(out + " const");
    } else if (c == 'P' || c == 'R' || c == 'O' || c == 'C' || c == 'G') {
        ++at_;
        out = clipped(type() + (c == 'P' ? "*" : c == 'R' ? "&" : c == 'O' ? "&&" : ""));
    } else if (c == 'F') {
        ++at_;
        accept("Y");
        while (!accept("E")) {
            if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E')
                ++at_;
            else
                type();
        }
        out = kLong;
    } else if (c == 'A') {
        ++at_;
        if (is_digit(peek()))
            skip_digits();
        else if (peek() != '_')
            expression();
        expect("_");
        out = clipped(type() + "[]");
    } else if (c == 'M') {
        ++at_;
        type();
        type();
        out = kLong;
    } else if (c == 'T') {
        out = template_parameter();
        if (peek() == 'I') {
            remember(out);
            skip_arguments();
        }
    } else if (c == 'U') {
        ++at_;
        source_name();
        if (peek() == 'I') skip_arguments();
        out = type();
    } else if (c == 'u') {
        ++at_;
        out = source_name();
        if (peek() == 'I') skip_arguments();
    } else if (c == 'S' && peek(1) != 't') {
        out = substitution();
        if (peek() != 'I') return out;  // a known substitution
        Name whole(1);
        out = clipped(out + arguments(whole));
    } else if (c == 'D') {
        return extended_type();
    } else if (c == 'N' || c == 'Z' || c == 'S' || is_digit(c)) {
        Name ignored;
        out = name(ignored);
    } else {
        const std::string_view known = builtin(c);
        if (known.empty()) throw Unreadable{};
        ++at_;
        return std::string(known);
    }
    remember(out);
    return out;
}

std::string Reader::extended_type() {
    ++at_;
    const char c = peek();
    ++at_;
    std::string out(kLong);
    switch (c) {
    case 'n':
        return "nullptr_t";
    case 'a':
        return "auto";
    case 'c':
        return "auto";
    case 'h':
        return "half";
    case 'i':
        return "char32_t";
    case 's':
        return "char16_t";
    case 'u':
        return "char8_t";
    case 'd':
    case 'e':
    case 'f':
        return "decimal";
    case 'F':
        number();
        if (!accept("_") && !accept("b")) expect("x");
        return "_Float16";
    case 'B':
    case 'U':
        number();
        expect("_");
        return "_BitInt";
    case 'p':
        out = type();
        break;
    case 't':
    case 'T':
        expression();
        expect("E");
        break;
    case 'v':
        if (is_digit(peek()))
            number();
        else
            expression();
        expect("_");
        type();
        break;
    case 'o':
    case 'x':
        return type();
    case 'O':
        expression();
        expect("E");
        return type();
    case 'w':
        while (!accept("E")) type();
        return type();
    default:
        throw Unreadable{};
    }
    remember(out);
    return out;
}

}  // namespace ptx::itanium
