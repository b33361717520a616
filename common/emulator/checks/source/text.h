// SPDX-License-Identifier: MIT
// Internal to source*.cpp: a file's text with comments and literals blanked out, and its words.
#pragma once

#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace checks {

struct Source {
    std::string file;
    std::vector<std::string> lines;
    std::string code;                   // same length as the text, comments and literals blanked
    std::vector<size_t> starts;         // offset of each line in `code`
    bool compiled_at_run_time = false;  // see set_source

    size_t line_of(size_t offset) const;  // 1-based
};

// Read once, then cached; null when it cannot be read.
const Source* source(const std::string& file);

// The file itself and, in the order of their inclusion, the files that it includes with quotes and
// that lie where the quotes say, seen from the including file; their includes, too.
std::vector<const Source*> with_includes(const Source& source);

inline bool word_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}
inline bool is_space(char c) {
    return std::isspace(static_cast<unsigned char>(c));
}
inline bool is_word(const std::string& token) {
    return !token.empty() && word_char(token[0]);
}
// Qualifiers and attributes that are not part of a type.
bool is_noise(const std::string& word);

// The next whole word `word` at or after `from`; npos when there is none.
size_t find_word(const std::string& code, std::string_view word, size_t from);
size_t skip_space(const std::string& code, size_t at);
// The offset after the bracket that closes the one at `open`; npos when it never closes.
size_t close_of(const std::string& code, size_t open);
// Words and single punctuation marks; template arguments stay with their name: vec<int,3>.
std::vector<std::string> tokens(const std::string& text);
// Joins the words of a type: {"unsigned", "int"} -> "unsigned int", {"float", "*"} -> "float*".
std::string spelled(const std::vector<std::string>& words);

// An integer constant expression of literals, + - * / % << and names that the file or a header
// beside it defines.
std::optional<int64_t> constant_value(const Source& source, const std::string& text);

}  // namespace checks
