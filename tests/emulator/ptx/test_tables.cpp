// SPDX-License-Identifier: MIT
// The table of instructions agrees with itself: every word of a rule exists, and every opcode and
// every rule has forms, which ptx_forms runs.
#include <map>
#include <set>

#include "forms.h"
#include "ptx/legality/parts.h"
#include "ptx/tables.h"
#include "ptx_text.h"

using forms::Row;
using ptx::Dotted;

namespace {

// The dotted words of a form: `sat` and `s32` of `add.sat.s32 r, r, r`.
std::vector<std::string> dotted_words(const std::string& form) {
    std::vector<std::string> out;
    std::istringstream text(form.substr(0, form.find(' ')));
    for (std::string word; std::getline(text, word, '.');) out.push_back(word);
    out.erase(out.begin());
    return out;
}

std::string mnemonic_of(const std::string& form) {
    return form.substr(0, form.find_first_of(". "));
}

// By mnemonic: every type and modifier that its forms, including those that are refused, have.
const std::map<std::string, std::set<std::string>>& words_of_forms() {
    static const auto words = [] {
        std::map<std::string, std::set<std::string>> out;
        for (const Row& row : forms::kRows) {
            if (row.kind != Row::kRuns && row.kind != Row::kRefused) continue;
            for (const std::string& form : forms::expand(std::string(row.text)))
                for (std::set<std::string>& found = out[mnemonic_of(form)];
                     const std::string& word : dotted_words(form))
                    found.insert(word);
        }
        return out;
    }();
    return words;
}

std::vector<std::string> modifiers_of(const Row& rule) {
    std::string text(rule.third);
    std::erase_if(text, [](char c) { return std::string("()[]").find(c) != std::string::npos; });
    std::vector<std::string> out;
    for (const std::string_view word : ptx::words(text)) out.emplace_back(word);
    return out;
}

}  // namespace

TEST_CASE("instructions: every opcode has a form", "[ptx][instructions]") {
    for (const Row& row : forms::kRows) {
        if (row.kind != Row::kOpcode) continue;
        CAPTURE(row.text);
        CHECK(words_of_forms().count(std::string(row.text)) == 1);
    }
}

TEST_CASE("instructions: every form is of a known opcode", "[ptx][instructions]") {
    for (const auto& [mnemonic, words] : words_of_forms()) {
        CAPTURE(mnemonic);
        CHECK(ptx::find_opcode(mnemonic) != ptx::Opcode::kUnknown);
    }
}

TEST_CASE("instructions: rules consist of known words", "[ptx][instructions]") {
    for (const Row& row : forms::kRows) {
        if (row.kind != Row::kRule) continue;
        CAPTURE(row.text, row.second, row.third);
        for (const std::string_view opcode : ptx::words(row.text))
            CHECK(ptx::find_opcode(opcode) != ptx::Opcode::kUnknown);
        for (const std::string_view type : ptx::words(row.second))
            CHECK(ptx::find_dotted(type).kind != Dotted::Kind::kUnknown);
        for (const std::string& modifier : modifiers_of(row))
            CHECK(ptx::find_dotted(modifier).kind == Dotted::Kind::kMod);
    }
}

TEST_CASE("instructions: an opcode has rows of rules if and only if it says so",
          "[ptx][instructions]") {
    std::set<std::string_view> ruled, by_type;
    for (const Row& row : forms::kRows) {
        if (row.kind == Row::kOpcode && row.second == "by_type") by_type.insert(row.text);
        if (row.kind == Row::kRule)
            for (const std::string_view opcode : ptx::words(row.text)) ruled.insert(opcode);
    }
    CHECK(ruled == by_type);
}

TEST_CASE("instructions: no two rules are about the same opcode and type", "[ptx][instructions]") {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const Row& row : forms::kRows) {
        if (row.kind != Row::kRule) continue;
        for (const std::string_view opcode : ptx::words(row.text))
            for (const std::string_view type : ptx::words(row.second)) {
                CAPTURE(opcode, type);
                CHECK(seen.emplace(opcode, type).second);
            }
    }
}

TEST_CASE("instructions: every type and modifier of a rule is in a form of its opcode",
          "[ptx][instructions]") {
    for (const Row& row : forms::kRows) {
        if (row.kind != Row::kRule) continue;
        for (const std::string_view opcode : ptx::words(row.text)) {
            const std::set<std::string>& words = words_of_forms().at(std::string(opcode));
            for (const std::string_view type : ptx::words(row.second)) {
                CAPTURE(opcode, type);
                CHECK(words.count(std::string(type)) == 1);
            }
            for (const std::string& modifier : modifiers_of(row)) {
                CAPTURE(opcode, modifier);
                CHECK(words.count(modifier) == 1);
            }
        }
    }
}
