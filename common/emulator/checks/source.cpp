// SPDX-License-Identifier: MIT
// Reads declarations from text in which comments, strings and preprocessor noise are blanked out.
#include "checks/source.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <unordered_map>

namespace checks {
namespace {

struct Source {
    std::vector<std::string> lines;
    std::string code;            // same length as the text, comments and literals blanked
    std::vector<size_t> starts;  // offset of each line in `code`

    size_t line_of(size_t offset) const {
        return size_t(std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin());
    }
};

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

// Replaces comments and the contents of literals by spaces; newlines stay, so offsets and lines do.
std::string blanked(const std::string& text) {
    std::string out = text;
    const size_t n = text.size();
    const auto blank = [&](size_t from, size_t to) {
        for (size_t i = from; i < to && i < n; ++i) {
            if (out[i] != '\n') out[i] = ' ';
        }
    };
    size_t i = 0;
    while (i < n) {
        if (text.compare(i, 2, "//") == 0) {
            size_t end = i;
            while (end < n && (text[end] != '\n' || text[end - 1] == '\\')) ++end;
            blank(i, end);
            i = end;
        } else if (text.compare(i, 2, "/*") == 0) {
            const size_t end = text.find("*/", i + 2);
            const size_t past = end == text.npos ? n : end + 2;
            blank(i, past);
            i = past;
        } else if (text[i] == '"' && i > 0 && text[i - 1] == 'R') {
            const size_t open = text.find('(', i);
            if (open == text.npos) break;
            const std::string close = ')' + text.substr(i + 1, open - i - 1) + '"';
            const size_t end = text.find(close, open);
            const size_t past = end == text.npos ? n : end + close.size();
            blank(i + 1, past - 1);
            i = past;
        } else if (text[i] == '"' || (text[i] == '\'' && !(i > 0 && word_char(text[i - 1])))) {
            size_t end = i + 1;
            while (end < n && text[end] != text[i] && text[end] != '\n') {
                end += text[end] == '\\' ? 2 : 1;
            }
            blank(i + 1, end);
            i = end + 1;
        } else {
            ++i;
        }
    }
    return out;
}

const Source* source(const std::string& file) {
    static auto* cache = new std::unordered_map<std::string, std::unique_ptr<Source>>;
    const auto [entry, fresh] = cache->try_emplace(file);
    if (!fresh) return entry->second.get();
    if (file.empty()) return nullptr;
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return nullptr;
    std::ostringstream content;
    content << stream.rdbuf();
    auto result = std::make_unique<Source>();
    const std::string text = content.str();
    result->code = blanked(text);
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        result->starts.push_back(at);
        result->lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    entry->second = std::move(result);
    return entry->second.get();
}

// The next whole word `word` at or after `from`; npos when there is none.
size_t find_word(const std::string& code, std::string_view word, size_t from) {
    for (size_t at = code.find(word, from); at != code.npos; at = code.find(word, at + 1)) {
        const bool starts = at == 0 || !word_char(code[at - 1]);
        const size_t end = at + word.size();
        if (starts && (end >= code.size() || !word_char(code[end]))) return at;
    }
    return code.npos;
}

size_t skip_space(const std::string& code, size_t at) {
    while (at < code.size() && space(code[at])) ++at;
    return at;
}

// The offset behind the bracket that closes the one at `open`; npos when it never closes.
size_t close_of(const std::string& code, size_t open) {
    int depth = 0;
    for (size_t i = open; i < code.size(); ++i) {
        if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
        if ((code[i] == ')' || code[i] == ']' || code[i] == '}') && --depth == 0) return i + 1;
    }
    return code.npos;
}

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

// Words and single punctuation marks; template arguments stay with their name: vec<int,3>.
std::vector<std::string> tokens(const std::string& text) {
    std::vector<std::string> result;
    for (size_t i = 0; i < text.size();) {
        if (space(text[i])) {
            ++i;
        } else if (word_char(text[i]) || text.compare(i, 2, "::") == 0) {
            std::string word;
            while (i < text.size() && (word_char(text[i]) || text.compare(i, 2, "::") == 0)) {
                const size_t step = text[i] == ':' ? 2 : 1;
                word += text.substr(i, step);
                i += step;
            }
            if (i < text.size() && text[i] == '<') {
                int depth = 0;
                do {
                    if (text[i] == '<') ++depth;
                    if (text[i] == '>') --depth;
                    if (!space(text[i])) word += text[i];
                    ++i;
                } while (i < text.size() && depth > 0);
            }
            result.push_back(word);
        } else if (text.compare(i, 3, "...") == 0) {
            result.push_back("...");
            i += 3;
        } else {
            result.push_back(std::string(1, text[i++]));
        }
    }
    return result;
}

bool is_word(const std::string& token) { return !token.empty() && word_char(token[0]); }

bool is_noise(const std::string& word) {
    static const char* const kNoise[] = {
        "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__", "struct", "class",
        "typename", "register", "static", "extern", "__shared__", "__device__", "__constant__",
        "__managed__", "constexpr", "inline", "alignas", "__align__", "mutable", "enum", "union"};
    return std::find(std::begin(kNoise), std::end(kNoise), word) != std::end(kNoise);
}

// Joins the words of a type: {"unsigned", "int"} -> "unsigned int", {"float", "*"} -> "float*".
std::string spelled(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) {
        if (!out.empty() && is_word(word)) out += ' ';
        out += word;
    }
    return out;
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
    if (std::find(words.begin(), words.end(), "(") != words.end()) return result;  // function pointer
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
        if (words[i] == "const" && std::find(words.begin(), words.begin() + i, "*") == words.begin() + i) {
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

constexpr int kMaxDepth = 8;

// Integer constant expressions of literals, + - * / % << and names that the file defines.
class Evaluator {
public:
    Evaluator(const Source& source, const std::string& text, int depth)
        : source_(source), words_(tokens(text)), depth_(depth) {}
    std::optional<int64_t> value() {
        const auto result = sum();
        return at_ == words_.size() ? result : std::nullopt;
    }

private:
    bool take(const char* word) {
        if (at_ >= words_.size() || words_[at_] != word) return false;
        ++at_;
        return true;
    }
    std::optional<int64_t> sum() {
        auto left = product();
        while (left) {
            const bool plus = take("+");
            if (!plus && !take("-")) break;
            const auto right = product();
            if (!right) return {};
            left = plus ? *left + *right : *left - *right;
        }
        return left;
    }
    std::optional<int64_t> product() {
        auto left = atom();
        while (left && at_ < words_.size()) {
            const char op = words_[at_][0];
            if (op == '<' && at_ + 1 < words_.size() && words_[at_ + 1] == "<") {
                at_ += 2;
                const auto right = atom();
                if (!right || *right < 0 || *right > 40) return {};
                left = *left * (int64_t(1) << *right);
                continue;
            }
            if (op != '*' && op != '/' && op != '%') break;
            ++at_;
            const auto right = atom();
            if (!right || (op != '*' && *right == 0)) return {};
            left = op == '*' ? *left * *right : op == '/' ? *left / *right : *left % *right;
        }
        return left;
    }
    std::optional<int64_t> atom();

    const Source& source_;
    std::vector<std::string> words_;
    size_t at_ = 0;
    int depth_;
};

// What the file defines `name` as: the text right of `=` or behind `#define name`.
std::optional<std::string> definition(const Source& source, const std::string& name) {
    for (size_t at = find_word(source.code, name, 0); at != source.code.npos;
         at = find_word(source.code, name, at + 1)) {
        const std::string& code = source.code;
        const size_t line_start = source.starts[source.line_of(at) - 1];
        size_t first = skip_space(code, line_start);
        const size_t end = at + name.size();
        if (code[first] == '#') {
            first = skip_space(code, first + 1);
            if (code.compare(first, 6, "define") == 0 && skip_space(code, first + 6) == at &&
                (end >= code.size() || code[end] != '(')) {
                return code.substr(end, code.find('\n', end) - end);
            }
            continue;
        }
        size_t next = skip_space(code, end);
        if (next >= code.size() || (code[next] != '=' && code[next] != '{')) continue;
        if (code.compare(next, 2, "==") == 0) continue;
        const std::string before = code.substr(line_start, at - line_start);
        const bool constant = find_word(before, "const", 0) != before.npos ||
                              find_word(before, "constexpr", 0) != before.npos ||
                              find_word(before, "enum", 0) != before.npos;
        if (!constant) continue;
        ++next;
        const size_t stop = code.find_first_of(";,}", next);
        return code.substr(next, stop == code.npos ? stop : stop - next);
    }
    return std::nullopt;
}

std::optional<int64_t> Evaluator::atom() {
    if (at_ >= words_.size()) return {};
    if (take("(")) {
        const auto inner = sum();
        return inner && take(")") ? inner : std::nullopt;
    }
    const std::string word = words_[at_++];
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
        try {
            return int64_t(std::stoull(word, nullptr, 0));
        } catch (const std::exception&) {
            return {};
        }
    }
    if (!is_word(word) || depth_ >= kMaxDepth) return {};
    const auto text = definition(source_, word);
    return text ? Evaluator(source_, *text, depth_ + 1).value() : std::nullopt;
}

uint32_t builtin_bytes(const std::string& type) {
    static const std::map<std::string, uint32_t> sizes = {
        {"bool", 1}, {"char", 1}, {"signed char", 1}, {"unsigned char", 1}, {"uchar", 1},
        {"short", 2}, {"unsigned short", 2}, {"ushort", 2}, {"short int", 2}, {"int", 4},
        {"unsigned", 4}, {"unsigned int", 4}, {"uint", 4}, {"signed", 4}, {"signed int", 4},
        {"long", 8}, {"unsigned long", 8}, {"long int", 8}, {"unsigned long int", 8}, {"ulong", 8},
        {"long long", 8}, {"unsigned long long", 8}, {"long long int", 8},
        {"unsigned long long int", 8}, {"float", 4}, {"double", 8}, {"half", 2}, {"__half", 2},
        {"half2", 4}, {"__half2", 4}, {"nv_bfloat16", 2}, {"__nv_bfloat16", 2},
        {"__nv_bfloat162", 4}, {"size_t", 8}, {"ptrdiff_t", 8}, {"int8_t", 1}, {"uint8_t", 1},
        {"int16_t", 2}, {"uint16_t", 2}, {"int32_t", 4}, {"uint32_t", 4}, {"int64_t", 8},
        {"uint64_t", 8}, {"intptr_t", 8}, {"uintptr_t", 8}, {"cuFloatComplex", 8},
        {"cuDoubleComplex", 16}, {"cuComplex", 8}, {"wchar_t", 4}, {"char16_t", 2},
        {"char32_t", 4}, {"curandState", 48}, {"curandState_t", 48}, {"curandStateXORWOW", 48},
        {"curandStatePhilox4_32_10_t", 64}};
    if (!type.empty() && type.back() == '*') return 8;
    std::string plain = type;
    for (const char* prefix : {"::", "std::", "cuda::std::"}) {
        const size_t length = std::string_view(prefix).size();
        if (plain.rfind(prefix, 0) == 0) plain.erase(0, length);
    }
    if (const auto found = sizes.find(plain); found != sizes.end()) return found->second;
    // The vector types: float4, uchar3, longlong2, ...
    if (!plain.empty() && plain.back() >= '1' && plain.back() <= '4') {
        static const std::map<std::string, uint32_t> scalars = {
            {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4}, {"uint", 4},
            {"long", 8}, {"ulong", 8}, {"longlong", 8}, {"ulonglong", 8}, {"float", 4},
            {"double", 8}};
        const auto scalar = scalars.find(plain.substr(0, plain.size() - 1));
        if (scalar != scalars.end()) return scalar->second * uint32_t(plain.back() - '0');
    }
    return 0;
}

uint32_t bytes_of(const Source* source, const std::string& type, int depth) {
    if (const uint32_t bytes = builtin_bytes(type)) return bytes;
    if (!source || depth > kMaxDepth || type.empty()) return 0;
    for (size_t at = find_word(source->code, type, 0); at != source->code.npos;
         at = find_word(source->code, type, at + 1)) {
        const std::string& code = source->code;
        const size_t line_start = source->starts[source->line_of(at) - 1];
        const size_t end = at + type.size();
        std::string target;
        const size_t statement =
            std::max(line_start, code.find_last_of(";{}", at) == code.npos
                                     ? 0
                                     : code.find_last_of(";{}", at) + 1);
        const std::vector<std::string> before = tokens(code.substr(statement, at - statement));
        if (before.size() == 1 && before[0] == "using") {  // using real = float;
            const size_t next = skip_space(code, end);
            if (next >= code.size() || code[next] != '=') continue;
            target = code.substr(next + 1, code.find(';', next) - next - 1);
        } else if (before.size() >= 2 && before[0] == "typedef") {  // typedef float real;
            if (skip_space(code, end) >= code.size() || code[skip_space(code, end)] != ';') continue;
            target = spelled({before.begin() + 1, before.end()});
        } else if (before.size() == 2 && before[0] == "#" && before[1] == "define") {
            target = code.substr(end, code.find('\n', end) - end);
        } else {
            continue;
        }
        std::vector<std::string> words;
        for (const std::string& word : tokens(target)) {
            if (word != "const" && !is_noise(word)) words.push_back(word);
        }
        const std::string next_type = spelled(words);
        if (next_type != type) return bytes_of(source, next_type, depth + 1);
    }
    return 0;
}

}  // namespace

std::optional<std::string> source_line(const std::string& file, uint32_t line) {
    const Source* text = source(file);
    if (!text || line == 0 || line > text->lines.size()) return std::nullopt;
    std::string result = text->lines[line - 1];
    while (!result.empty() && space(result.back())) result.pop_back();
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
    for (size_t at = find_word(code, name, 0); at != code.npos; at = find_word(code, name, at + 1)) {
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
            const auto extent =
                Evaluator(*text, code.substr(open + 1, past - open - 2), 0).value();
            found.extents.push_back(extent && *extent > 0 ? uint64_t(*extent) : 0);
            found.array = true;
            open = skip_space(code, past);
        }
        best = std::move(found);
        if (line == 0) break;
    }
    return best;
}

uint32_t type_bytes(const std::string& file, const std::string& type) {
    return bytes_of(source(file), type, 0);
}

}  // namespace checks
