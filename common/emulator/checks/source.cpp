// SPDX-License-Identifier: MIT
// Declarations of kernels and variables, found in blanked text by their words.
#include "checks/source.h"

#include <algorithm>

#include "checks/source_text.h"

namespace checks {
namespace {

std::vector<std::string> split_parameters(const std::string& list) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : list) {
        if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
        if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
        if (c == ',' && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    if (parts.size() == 1 && skip_space(parts[0], 0) == parts[0].size()) parts.clear();
    return parts;
}

ParameterText parse_parameter(const std::string& text) {
    ParameterText result;
    std::vector<std::string> words = tokens(text.substr(0, text.find('=')));
    const auto bracket = std::find(words.begin(), words.end(), "[");
    if (bracket != words.end()) {  // T name[]: a pointer
        words.erase(bracket, words.end());
        const std::string name = words.empty() ? "" : words.back();
        if (!words.empty()) words.pop_back();
        words.push_back("*");
        if (!name.empty()) words.push_back(name);
    }
    if (std::find(words.begin(), words.end(), "(") != words.end())
        return result;  // function pointer
    // The name is the last word, unless it is the only one of the type.
    size_t type_words = 0;
    for (const std::string& word : words) {
        type_words += is_word(word) && !is_noise(word) && word != "const";
    }
    if (!words.empty() && is_word(words.back()) && !is_noise(words.back()) &&
        words.back() != "const" && type_words > 1) {
        result.name = words.back();
        words.pop_back();
    }
    std::vector<std::string> type;
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "...") result.pack = true;
        if (words[i] == "const" &&
            std::find(words.begin(), words.begin() + i, "*") == words.begin() + i) {
            result.is_const = true;
        }
        const bool keep = is_word(words[i]) ? !is_noise(words[i]) && words[i] != "const"
                                            : words[i] == "*" || words[i] == "::";
        if (keep) type.push_back(words[i]);
    }
    if (!type.empty() && type.back() == "*") {
        result.pointer = true;
        type.pop_back();
    }
    result.type = spelled(type);
    return result;
}

}  // namespace

std::optional<std::string> source_line(const std::string& file, uint32_t line) {
    const Source* text = source(file);
    if (!text || line == 0 || line > text->lines.size()) return std::nullopt;
    std::string result = text->lines[line - 1];
    while (!result.empty() && is_space(result.back())) result.pop_back();
    return result;
}

std::optional<std::vector<ParameterText>> find_kernel(const std::string& file,
                                                      std::string_view kernel, uint32_t line) {
    const Source* text = source(file);
    if (!text || kernel.empty()) return std::nullopt;
    const std::string& code = text->code;
    std::optional<std::vector<ParameterText>> best;
    for (size_t at = find_word(code, kernel, 0); at != code.npos;
         at = find_word(code, kernel, at + 1)) {
        const size_t open = skip_space(code, at + kernel.size());
        if (open >= code.size() || code[open] != '(') continue;
        // A declaration: __global__ since the end of the statement before.
        const size_t before = code.find_last_of(";}", at);
        const size_t global = find_word(code, "__global__", before == code.npos ? 0 : before);
        if (global == code.npos || global > at) continue;
        if (best && line && text->line_of(at) > line) break;
        const size_t past = close_of(code, open);
        if (past == code.npos) break;
        std::vector<ParameterText> parameters;
        for (const std::string& part : split_parameters(code.substr(open + 1, past - open - 2))) {
            parameters.push_back(parse_parameter(part));
        }
        best = std::move(parameters);
        if (line == 0) break;
    }
    return best;
}

std::optional<VariableText> find_variable(const std::string& file, std::string_view qualifier,
                                          std::string_view name, uint32_t line) {
    const Source* text = source(file);
    if (!text || name.empty()) return std::nullopt;
    const std::string& code = text->code;
    std::optional<VariableText> best;
    for (size_t at = find_word(code, name, 0); at != code.npos;
         at = find_word(code, name, at + 1)) {
        const size_t before = code.find_last_of(";{}", at);
        const size_t mark = find_word(code, qualifier, before == code.npos ? 0 : before);
        if (mark == code.npos || mark > at) continue;
        // Not an initialiser's right side: `__shared__ int a = name;` does not exist in CUDA, but
        // `__device__ int x = name` does.
        if (code.find('=', mark) < at) continue;
        if (best && line && text->line_of(at) > line) break;
        VariableText found;
        std::vector<std::string> words;
        int depth = 0;
        for (const std::string& word : tokens(code.substr(mark, at - mark))) {
            if (word == "," && depth == 0) break;  // second of `__shared__ T a[1], b[2]`
            depth += word == "(" || word == "[";
            depth -= word == ")" || word == "]";
            const bool inside = depth > 0 || word == ")" || word == "]";
            if (inside || word == "const" || is_noise(word)) continue;
            words.push_back(word);
        }
        // `T a[1], b`: the words before the comma end with a's own name.
        if (code.substr(mark, at - mark).find(',') != code.npos && words.size() > 1 &&
            code.substr(mark, at - mark).find('<') == code.npos) {
            words.pop_back();
        }
        found.type = spelled(words);
        for (size_t open = skip_space(code, at + name.size());
             open < code.size() && code[open] == '[';) {
            const size_t past = close_of(code, open);
            if (past == code.npos) break;
            const auto extent = constant_value(*text, code.substr(open + 1, past - open - 2));
            found.extents.push_back(extent && *extent > 0 ? uint64_t(*extent) : 0);
            found.array = true;
            open = skip_space(code, past);
        }
        best = std::move(found);
        if (line == 0) break;
    }
    return best;
}

}  // namespace checks
