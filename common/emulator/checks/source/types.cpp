// SPDX-License-Identifier: MIT
// Sizes of types, and values of constant expressions, from the text of a file.
#include <algorithm>
#include <map>

#include "checks/source/source.h"
#include "checks/source/text.h"

namespace checks {
namespace {

constexpr int kMostAliases = 8;

// Integer constant expressions of literals, + - * / % << and names that the file or its headers
// define.
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

// The definition of `name` in one file: the text after `=` or after `#define name`.
std::optional<std::string> defined_in(const Source& source, const std::string& name) {
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

// The same, in the file or in a header that it includes.
std::optional<std::string> definition(const Source& source, const std::string& name) {
    for (const Source* file : with_includes(source)) {
        if (const auto text = defined_in(*file, name)) return text;
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
    if (!is_word(word) || depth_ >= kMostAliases) return {};
    const auto text = definition(source_, word);
    return text ? Evaluator(source_, *text, depth_ + 1).value() : std::nullopt;
}

uint32_t builtin_bytes(const std::string& type) {
    static const std::map<std::string, uint32_t> sizes = {{"bool", 1},
                                                          {"char", 1},
                                                          {"signed char", 1},
                                                          {"unsigned char", 1},
                                                          {"uchar", 1},
                                                          {"short", 2},
                                                          {"unsigned short", 2},
                                                          {"ushort", 2},
                                                          {"short int", 2},
                                                          {"int", 4},
                                                          {"unsigned", 4},
                                                          {"unsigned int", 4},
                                                          {"uint", 4},
                                                          {"signed", 4},
                                                          {"signed int", 4},
                                                          {"long", 8},
                                                          {"unsigned long", 8},
                                                          {"long int", 8},
                                                          {"unsigned long int", 8},
                                                          {"ulong", 8},
                                                          {"long long", 8},
                                                          {"unsigned long long", 8},
                                                          {"long long int", 8},
                                                          {"unsigned long long int", 8},
                                                          {"float", 4},
                                                          {"double", 8},
                                                          {"half", 2},
                                                          {"__half", 2},
                                                          {"half2", 4},
                                                          {"__half2", 4},
                                                          {"nv_bfloat16", 2},
                                                          {"__nv_bfloat16", 2},
                                                          {"__nv_bfloat162", 4},
                                                          {"size_t", 8},
                                                          {"ptrdiff_t", 8},
                                                          {"int8_t", 1},
                                                          {"uint8_t", 1},
                                                          {"int16_t", 2},
                                                          {"uint16_t", 2},
                                                          {"int32_t", 4},
                                                          {"uint32_t", 4},
                                                          {"int64_t", 8},
                                                          {"uint64_t", 8},
                                                          {"intptr_t", 8},
                                                          {"uintptr_t", 8},
                                                          {"cuFloatComplex", 8},
                                                          {"cuDoubleComplex", 16},
                                                          {"cuComplex", 8},
                                                          {"wchar_t", 4},
                                                          {"char16_t", 2},
                                                          {"char32_t", 4},
                                                          {"curandState", 48},
                                                          {"curandState_t", 48},
                                                          {"curandStateXORWOW", 48},
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
        static const std::map<std::string, uint32_t> scalars = {{"char", 1},
                                                                {"uchar", 1},
                                                                {"short", 2},
                                                                {"ushort", 2},
                                                                {"int", 4},
                                                                {"uint", 4},
                                                                {"long", 8},
                                                                {"ulong", 8},
                                                                {"longlong", 8},
                                                                {"ulonglong", 8},
                                                                {"float", 4},
                                                                {"double", 8}};
        const auto scalar = scalars.find(plain.substr(0, plain.size() - 1));
        if (scalar != scalars.end()) return scalar->second * uint32_t(plain.back() - '0');
    }
    return 0;
}

uint32_t bytes_of(const Source* source, const std::string& type, int depth) {
    if (const uint32_t bytes = builtin_bytes(type)) return bytes;
    if (!source || depth > kMostAliases || type.empty()) return 0;
    for (size_t at = find_word(source->code, type, 0); at != source->code.npos;
         at = find_word(source->code, type, at + 1)) {
        const std::string& code = source->code;
        const size_t line_start = source->starts[source->line_of(at) - 1];
        const size_t end = at + type.size();
        std::string target;
        const size_t statement = std::max(
            line_start,
            code.find_last_of(";{}", at) == code.npos ? 0 : code.find_last_of(";{}", at) + 1);
        const std::vector<std::string> before = tokens(code.substr(statement, at - statement));
        if (before.size() == 1 && before[0] == "using") {  // using real = float;
            const size_t next = skip_space(code, end);
            if (next >= code.size() || code[next] != '=') continue;
            target = code.substr(next + 1, code.find(';', next) - next - 1);
        } else if (before.size() >= 2 && before[0] == "typedef") {  // typedef float real;
            if (skip_space(code, end) >= code.size() || code[skip_space(code, end)] != ';')
                continue;
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

std::optional<int64_t> constant_value(const Source& source, const std::string& text) {
    return Evaluator(source, text, 0).value();
}

uint32_t type_bytes(const std::string& file, const std::string& type) {
    return bytes_of(source(file), type, 0);
}

}  // namespace checks
