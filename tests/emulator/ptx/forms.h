// SPDX-License-Identifier: MIT
// The rows of ptx/instructions.def as a list, and the forms that they stand for.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace forms {

struct Row {
    enum Kind { kSection, kOpcode, kRule, kRuns, kRefused } kind;
    std::string_view text;    // a heading, a mnemonic, the opcodes of a rule, or a form
    std::string_view second;  // titles in the PTX ISA, the rule's types, or why it is refused
    std::string_view third;   // the rule's modifiers
};

inline constexpr Row kRows[] = {
#define PTX_SECTION(heading, titles) {Row::kSection, heading, titles, {}},
#define PTX_OPCODE(name, decoder, rule, ...) {Row::kOpcode, #name, #rule, {}},
#define PTX_RULE(opcodes, types, modifiers) {Row::kRule, opcodes, types, modifiers},
#define PTX_FORM(form) {Row::kRuns, form, {}, {}},
#define PTX_REFUSED(form, reason) {Row::kRefused, form, reason, {}},
#include "ptx/instructions.def"
};

// Every way to choose among the alternatives in angle brackets.
inline std::vector<std::string> expand(const std::string& text) {
    const size_t open = text.find('<');
    if (open == std::string::npos) return {text};
    const size_t close = text.find('>', open);
    const std::string before = text.substr(0, open), after = text.substr(close + 1);
    std::vector<std::string> out;
    for (size_t at = open + 1; at <= close;) {
        const size_t bar = std::min(text.find('|', at), close);
        for (const std::string& rest : expand(after))
            out.push_back(before + text.substr(at, bar - at) + rest);
        at = bar + 1;
    }
    return out;
}

}  // namespace forms
