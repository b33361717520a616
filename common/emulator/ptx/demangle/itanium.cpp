// SPDX-License-Identifier: MIT
// Parses nested, local and unqualified names.
#include "ptx/demangle/itanium_reader.h"

namespace ptx {
namespace itanium {
namespace {

struct Spelling {
    std::string_view code, text;
};
constexpr Spelling kOperators[] = {
    {"nw", " new"}, {"na", " new[]"}, {"dl", " delete"}, {"da", " delete[]"}, {"aw", " co_await"},
    {"ps", "+"},    {"ng", "-"},      {"ad", "&"},       {"de", "*"},         {"co", "~"},
    {"pl", "+"},    {"mi", "-"},      {"ml", "*"},       {"dv", "/"},         {"rm", "%"},
    {"an", "&"},    {"or", "|"},      {"eo", "^"},       {"aS", "="},         {"pL", "+="},
    {"mI", "-="},   {"mL", "*="},     {"dV", "/="},      {"rM", "%="},        {"aN", "&="},
    {"oR", "|="},   {"eO", "^="},     {"ls", "<<"},      {"rs", ">>"},        {"lS", "<<="},
    {"rS", ">>="},  {"eq", "=="},     {"ne", "!="},      {"lt", "<"},         {"gt", ">"},
    {"le", "<="},   {"ge", ">="},     {"ss", "<=>"},     {"nt", "!"},         {"aa", "&&"},
    {"oo", "||"},   {"pp", "++"},     {"mm", "--"},      {"cm", ","},         {"pm", "->*"},
    {"pt", "->"},   {"cl", "()"},     {"ix", "[]"},      {"qu", "?"},
};

}  // namespace

void Reader::encoding(Name& out, bool inner) {
    const Level level(*this);
    if (peek() == 'T' && (peek(1) == 'V' || peek(1) == 'T' || peek(1) == 'I' || peek(1) == 'S')) {
        const bool table = peek(1) == 'V' || peek(1) == 'T';
        at_ += 2;
        out.push_back({std::string(table ? "vtable for " : "typeinfo for ") + type(), {}, false});
        return;
    }
    if (accept("GV")) {
        name(out);
        return;
    }
    name(out);
    if (!inner) return;
    while (peek() != 'E' && peek() != '\0') type();
}

std::string Reader::name(Name& out) {
    const Level level(*this);
    if (accept("N")) return nested(out);
    if (accept("Z")) return local(out);
    std::string text;
    if (peek() == 'S' && peek(1) != 't') {
        text = substitution();
        out.push_back({text, {}, false});
    } else {
        const bool in_std = accept("St");
        if (in_std) out.push_back({"std", {}, false});
        const std::string own = unqualified(out);
        out.push_back({own, {}, false});
        text = (in_std ? "std::" : "") + own;
        if (peek() == 'I') remember(text);
    }
    if (peek() == 'I') text += arguments(out);
    return clipped(std::move(text));
}

std::string Reader::nested(Name& out) {
    while (peek() == 'r' || peek() == 'V' || peek() == 'K') ++at_;
    if (peek() == 'R' || peek() == 'O') ++at_;
    std::string text;   // of the part that has been read, shortened
    bool known = true;  // it is a substitution already, or empty
    while (!accept("E")) {
        if (!known) remember(text);
        known = false;
        const auto extend = [&](const std::string& part) {
            if (is_noise(part)) return;
            text = clipped(text.empty() ? part : text + "::" + part);
        };
        if (accept("St")) {
            out.push_back({"std", {}, false});
            text = "std";
            known = true;
        } else if (peek() == 'S') {
            text = substitution();
            out.push_back({text, {}, false});
            known = true;
        } else if (peek() == 'I') {
            if (out.empty()) throw Unreadable{};
            text = clipped(text + arguments(out));
        } else if (peek() == 'T') {
            text = template_parameter();
            out.push_back({text, {}, false});
        } else if (peek() == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
            at_ += 2;
            expression();
            expect("E");
            text = kLong;
            out.push_back({text, {}, false});
        } else if (accept("M")) {
            known = true;
        } else {
            const std::string own = unqualified(out);
            out.push_back({own, {}, false});
            extend(own);
        }
    }
    return text;
}

std::string Reader::local(Name& out) {
    encoding(out, true);
    expect("E");
    std::string text;
    if (accept("s")) {
        text = "string literal";
        out.push_back({text, {}, false});
    } else {
        if (accept("d")) {
            skip_digits();
            expect("_");
        }
        text = name(out);
    }
    if (accept("__")) {
        skip_digits();
        accept("_");
    } else if (peek() == '_') {
        ++at_;
        skip_digits();
    }
    return text;
}

std::string Reader::unqualified(const Name& around) {
    std::string out;
    accept("L");
    if (is_digit(peek())) {
        out = source_name();
    } else if (peek() == 'C' && peek(1) >= '1' && peek(1) <= '5') {
        at_ += 2;
        out = around.empty() ? "" : around.back().name;
    } else if (peek() == 'D' && is_digit(peek(1))) {
        at_ += 2;
        out = "~" + (around.empty() ? "" : around.back().name);
    } else if (accept("Ul")) {
        while (!accept("E")) type();
        skip_digits();
        expect("_");
        out = "lambda";
    } else if (accept("Ut")) {
        skip_digits();
        expect("_");
        out = "unnamed";
    } else if (accept("DC")) {
        while (!accept("E")) out = source_name();
    } else if (accept("cv")) {
        out = "operator " + type();
    } else if (accept("li")) {
        out = "operator\"\" " + source_name();
    } else {
        for (const Spelling& each : kOperators) {
            if (!accept(each.code)) continue;
            out = "operator" + std::string(each.text);
            break;
        }
        if (out.empty()) throw Unreadable{};
    }
    while (accept("B")) source_name();
    return out;
}

std::string Reader::substitution() {
    expect("S");
    switch (peek()) {
    case 'a':
        ++at_;
        return "std::allocator";
    case 'b':
        ++at_;
        return "std::basic_string";
    case 's':
        ++at_;
        return "std::string";
    case 'i':
        ++at_;
        return "std::istream";
    case 'o':
        ++at_;
        return "std::ostream";
    case 'd':
        ++at_;
        return "std::iostream";
    default:
        break;
    }
    size_t index = 0;
    if (peek() != '_') {
        while (is_digit(peek()) || (peek() >= 'A' && peek() <= 'Z')) {
            const char c = text_[at_++];
            index = index * 36 + size_t(is_digit(c) ? c - '0' : c - 'A' + 10);
            if (index > text_.size()) throw Unreadable{};
        }
        ++index;
    }
    expect("_");
    if (index >= known_.size()) throw Unreadable{};
    return known_[index];
}

}  // namespace itanium

bool is_noise(std::string_view name) {
    for (const std::string_view prefix : {"_INTERNAL_", "_GLOBAL__N_", "CUB_", "THRUST_"}) {
        if (name.starts_with(prefix)) return true;
    }
    // Inline namespaces that denote a version: std::__4, __v1, _V1.
    std::string_view rest = name;
    while (rest.starts_with("_")) rest.remove_prefix(1);
    if (rest.size() == name.size()) return name.empty();
    if (rest.starts_with("v") || rest.starts_with("V")) rest.remove_prefix(1);
    return rest.find_first_not_of("0123456789") == std::string_view::npos && !rest.empty();
}

std::vector<NameComponent> read_mangled(std::string_view mangled) {
    if (!mangled.starts_with("_Z")) return {};
    return itanium::Reader(mangled.substr(2)).run();
}

}  // namespace ptx
