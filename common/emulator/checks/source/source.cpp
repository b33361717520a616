// SPDX-License-Identifier: MIT
// Declarations of kernels and variables, found in blanked text by their words.
#include "checks/source/source.h"

#include <algorithm>

#include "checks/source/text.h"

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

// Without `[[maybe_unused]]` and the like, whose brackets are no array's.
std::string without_attributes(std::string text) {
    for (size_t open = text.find("[["); open != text.npos; open = text.find("[[", open)) {
        const size_t past = close_of(text, open);
        if (past == text.npos) break;
        text.replace(open, past - open, " ");
    }
    return text;
}

ParameterText parse_parameter(const std::string& parameter) {
    const std::string text = without_attributes(parameter);
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

// The text between the braces of the functions called `name`.
std::vector<std::pair<size_t, size_t>> bodies_of(const std::string& code, std::string_view name) {
    std::vector<std::pair<size_t, size_t>> out;
    if (name.empty()) return out;
    for (size_t at = find_word(code, name, 0); at != code.npos;
         at = find_word(code, name, at + 1)) {
        const size_t open = skip_space(code, at + name.size());
        if (open >= code.size() || code[open] != '(') continue;
        const size_t past = close_of(code, open);
        if (past == code.npos) break;
        const size_t brace = code.find_first_of("{};=()", past);  // but not a call's
        if (brace == code.npos || code[brace] != '{') continue;
        const size_t end = close_of(code, brace);
        if (end != code.npos) out.emplace_back(brace, end);
    }
    return out;
}

// `[8][N]` after a name.
void read_extents(const Source& text, size_t after_name, VariableText& out) {
    const std::string& code = text.code;
    for (size_t open = skip_space(code, after_name); open < code.size() && code[open] == '[';) {
        const size_t past = close_of(code, open);
        if (past == code.npos) break;
        const auto extent = constant_value(text, code.substr(open + 1, past - open - 2));
        out.extents.push_back(extent && *extent > 0 ? uint64_t(*extent) : 0);
        out.array = true;
        open = skip_space(code, past);
    }
}

// The words of the type before the declarator at the end of `declaration`.
std::string declared_type(const std::string& declaration) {
    std::vector<std::string> words;
    int depth = 0;
    for (const std::string& word : tokens(declaration)) {
        if (word == "," && depth == 0) break;  // second of `__shared__ T a[1], b[2]`
        depth += word == "(" || word == "[";
        depth -= word == ")" || word == "]";
        const bool inside = depth > 0 || word == ")" || word == "]";
        if (inside || word == "const" || is_noise(word)) continue;
        words.push_back(word);
    }
    // `T a[1], b`: the words before the comma end with a's own name.
    if (declaration.find(',') != declaration.npos && words.size() > 1 &&
        declaration.find('<') == declaration.npos) {
        words.pop_back();
    }
    return spelled(words);
}

// The declaration of the variable whose name is at `at`, if it has this qualifier.
std::optional<VariableText> declaration_at(const Source& text, std::string_view qualifier,
                                           size_t at, size_t name_size) {
    const std::string& code = text.code;
    const size_t before = code.find_last_of(";{}", at);
    const size_t mark = find_word(code, qualifier, before == code.npos ? 0 : before);
    if (mark == code.npos || mark > at) return std::nullopt;
    // Not an initialiser's right side: `__shared__ int a = name;` does not exist in CUDA, but
    // `__device__ int x = name` does.
    if (code.find('=', mark) < at) return std::nullopt;
    VariableText found;
    found.type = declared_type(code.substr(mark, at - mark));
    read_extents(text, at + name_size, found);
    return found;
}

// `T name[N]` without a qualifier for another state space. Nothing for an expression.
std::optional<VariableText> local_array_at(const Source& text, size_t at, size_t name_size) {
    const std::string& code = text.code;
    const size_t before = code.find_last_of(";{}()", at);
    const size_t begin = before == code.npos ? 0 : before + 1;
    const std::string declaration = code.substr(begin, at - begin);
    if (declaration.find_first_of("=+-/%!|^?.") != declaration.npos) return std::nullopt;
    const std::vector<std::string> words = tokens(declaration);
    static const char* const kOthers[] = {"__shared__",
                                          "__device__",
                                          "__constant__",
                                          "__managed__",
                                          "extern",
                                          "return",
                                          "delete",
                                          "new",
                                          "case",
                                          "else",
                                          "goto",
                                          "static"};
    if (words.empty() || !is_word(words[0])) return std::nullopt;
    for (const std::string& word : words) {
        const bool other =
            std::find(std::begin(kOthers), std::end(kOthers), word) != std::end(kOthers);
        const bool compares = word == "&" || word == "<" || word == ">" || word.back() == '<';
        if (other || compares) return std::nullopt;
    }
    VariableText found;
    found.type = declared_type(declaration);
    read_extents(text, at + name_size, found);
    if (!found.array || found.type.empty()) return std::nullopt;
    return found;
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
                                          std::string_view name, std::string_view function) {
    const Source* text = source(file);
    if (!text || name.empty()) return std::nullopt;
    const std::vector<std::pair<size_t, size_t>> bodies = bodies_of(text->code, function);
    std::optional<VariableText> first;
    for (size_t at = find_word(text->code, name, 0); at != text->code.npos;
         at = find_word(text->code, name, at + 1)) {
        auto found = declaration_at(*text, qualifier, at, name.size());
        if (!found) continue;
        const bool inside = std::any_of(bodies.begin(), bodies.end(), [&](const auto& body) {
            return at > body.first && at < body.second;
        });
        if (inside || bodies.empty()) return found;
        if (!first) first = std::move(found);
    }
    return first;
}

WayPast way_past(const std::string& file, uint32_t line, uint32_t end_line) {
    const Source* text = source(file);
    if (!text || line == 0 || end_line <= line || end_line > text->starts.size()) return {};
    const std::string& code = text->code;
    const size_t at = text->starts[line - 1];
    const size_t close = skip_space(code, text->starts[end_line - 1]);
    if (close >= code.size() || code[close] != '}' || text->line_of(close) != end_line) return {};
    // The braces that are open at `line`: the function's own is the one that closes there.
    std::vector<size_t> open;
    for (size_t i = 0; i < at; ++i) {
        if (code[i] == '{') open.push_back(i);
        if (code[i] == '}' && !open.empty()) open.pop_back();
    }
    const auto body = std::find_if(
        open.begin(), open.end(), [&](size_t brace) { return close_of(code, brace) == close + 1; });
    if (body == open.end()) return {};
    std::vector<size_t> returns;
    for (size_t r = find_word(code, "return", *body); r < at; r = find_word(code, "return", r + 1))
        returns.push_back(r);
    if (returns.size() == 1) return {uint32_t(text->line_of(returns[0])), true};
    // The condition of the outermost block round the line: threads outside meet no inner one.
    if (returns.empty() && body + 1 != open.end()) {
        const size_t head = code.find_last_not_of(" \t\r\n", *(body + 1) - 1);
        if (head != code.npos && code[head] == ')') return {uint32_t(text->line_of(head)), false};
    }
    return {};
}

std::vector<LocalArrayText> local_arrays(const std::string& file, uint32_t line) {
    const Source* text = source(file);
    std::vector<LocalArrayText> out;
    if (!text || line == 0 || line > text->starts.size()) return out;
    const std::string& code = text->code;
    const size_t begin = text->starts[line - 1];
    const size_t end = line < text->starts.size() ? text->starts[line] : code.size();
    for (size_t open = code.find('[', begin); open < end; open = code.find('[', open + 1)) {
        size_t first = open;
        while (first > begin && word_char(code[first - 1])) --first;
        const std::string name = code.substr(first, open - first);
        const std::string_view before = std::string_view(code).substr(0, first);
        const bool member = before.ends_with('.') || before.ends_with("->");
        if (name.empty() || member ||
            std::any_of(out.begin(), out.end(), [&](const auto& o) { return o.name == name; }))
            continue;
        std::optional<VariableText> nearest;
        for (size_t at = find_word(code, name, 0); at < first; at = find_word(code, name, at + 1))
            if (auto found = local_array_at(*text, at, name.size())) nearest = std::move(found);
        if (nearest) out.push_back({name, std::move(*nearest)});
    }
    return out;
}

}  // namespace checks
