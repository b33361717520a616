// SPDX-License-Identifier: MIT
// Sizes of types, and values of constant expressions, from the text of a file.
#include <algorithm>
#include <cstring>
#include <span>

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

// The names of one size, with a bar before and after each.
struct Sized {
    uint32_t bytes;
    const char* names;
};
constexpr Sized kBuiltins[] = {
    {1, "|bool|char|signed char|unsigned char|uchar|int8_t|uint8_t|"},
    {2, "|short|unsigned short|ushort|short int|half|__half|nv_bfloat16|__nv_bfloat16|"},
    {2, "|int16_t|uint16_t|char16_t|"},
    {4, "|int|unsigned|unsigned int|uint|signed|signed int|float|half2|__half2|__nv_bfloat162|"},
    {4, "|int32_t|uint32_t|wchar_t|char32_t|"},
    {8, "|long|unsigned long|long int|unsigned long int|ulong|long long|unsigned long long|"},
    {8, "|long long int|unsigned long long int|double|size_t|ptrdiff_t|int64_t|uint64_t|"},
    {8, "|intptr_t|uintptr_t|cuFloatComplex|cuComplex|"},
    {16, "|cuDoubleComplex|"},
    {48, "|curandState|curandState_t|curandStateXORWOW|"},
    {64, "|curandStatePhilox4_32_10_t|"},
};
// Of these there are vectors, such as float4, uchar3 and longlong2.
constexpr Sized kScalars[] = {
    {1, "|char|uchar|"},
    {2, "|short|ushort|"},
    {4, "|int|uint|float|"},
    {8, "|long|ulong|longlong|ulonglong|double|"},
};

// 0: the name is not among them.
uint32_t bytes_among(std::span<const Sized> sizes, const std::string& name) {
    const std::string entry = '|' + name + '|';
    for (const Sized& size : sizes)
        if (std::strstr(size.names, entry.c_str())) return size.bytes;
    return 0;
}

uint32_t builtin_bytes(const std::string& type) {
    if (!type.empty() && type.back() == '*') return 8;
    std::string plain = type;
    for (const char* prefix : {"::", "std::", "cuda::std::"}) {
        const size_t length = std::string_view(prefix).size();
        if (plain.rfind(prefix, 0) == 0) plain.erase(0, length);
    }
    if (const uint32_t bytes = bytes_among(kBuiltins, plain)) return bytes;
    if (plain.empty() || plain.back() < '1' || plain.back() > '4') return 0;
    return bytes_among(kScalars, plain.substr(0, plain.size() - 1)) * uint32_t(plain.back() - '0');
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
