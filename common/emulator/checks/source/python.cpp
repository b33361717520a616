// SPDX-License-Identifier: MIT
// Reads Numba's mangled names (Itanium C++ ABI with its own template names) and the lines of a
// script that declare something.
#include "checks/source/python.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <optional>

namespace checks {
namespace {

// meminfo, parent, number of items, size of an item, data; then a shape and a stride per dimension.
constexpr unsigned kBeforeData = 4, kFixedParts = 5;

const char* builtin_type(char letter) {
    switch (letter) {
    case 'b':
        return "bool";
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
        return "unsigned int";
    case 'l':
    case 'x':
        return "long long";
    case 'm':
    case 'y':
        return "unsigned long long";
    case 'f':
        return "float";
    case 'd':
        return "double";
    default:
        return nullptr;
    }
}

class Mangled {
public:
    explicit Mangled(std::string_view text) : text_(text) {}

    // `_ZN...E`; false for anything else.
    bool skip_name() {
        if (!text_.starts_with("_ZN")) return false;
        at_ = 3;
        while (at_ < text_.size() && text_[at_] != 'E') {
            if (text_[at_] == 'B') ++at_;  // a tag of the name before
            if (word().empty()) return false;
        }
        return take('E');
    }
    bool at_end() const { return at_ >= text_.size(); }

    // A type at any place; nothing for one that is not known.
    std::optional<MangledParameter> type() {
        if (at_end()) return std::nullopt;
        MangledParameter out;
        if (const char* name = builtin_type(text_[at_])) {
            ++at_;
            out.element = name;
            return out;
        }
        const std::string_view name = word();
        if (name == "complex64" || name == "complex128") {
            out.count = 2;  // real and imaginary part
            return out;
        }
        if (name.empty() || !take('I')) return std::nullopt;
        if (name == "Array") {
            const auto element = type();
            const auto dimensions = element ? literal() : std::nullopt;
            if (!dimensions || *dimensions > 32 || !skip_arguments()) return std::nullopt;
            out.array = true;
            out.count = kFixedParts + 2 * *dimensions;
            out.element = element->array ? "" : element->element;
            return out;
        }
        if (name == "UniTuple") {
            const auto element = type();
            const auto count = element ? literal() : std::nullopt;
            if (!count || *count > 64 || !skip_arguments()) return std::nullopt;
            out.count = element->count * *count;
            return out;
        }
        if (name != "Tuple") return std::nullopt;
        out.count = 0;
        while (!at_end() && text_[at_] != 'E') {
            const auto element = type();
            if (!element) return std::nullopt;
            out.count += element->count;
        }
        if (!take('E')) return std::nullopt;
        return out;
    }

private:
    bool take(char letter) {
        if (at_end() || text_[at_] != letter) return false;
        ++at_;
        return true;
    }
    std::optional<unsigned> number() {
        unsigned value = 0;
        const size_t start = at_;
        while (!at_end() && std::isdigit(static_cast<unsigned char>(text_[at_])) && value < 100000)
            value = value * 10 + unsigned(text_[at_++] - '0');
        return at_ > start ? std::optional(value) : std::nullopt;
    }
    std::string_view word() {
        const auto length = number();
        if (!length || *length > text_.size() - at_) return {};
        at_ += *length;
        return text_.substr(at_ - *length, *length);
    }
    std::optional<unsigned> literal() {  // Li2E
        if (!take('L')) return std::nullopt;
        ++at_;  // its type
        const auto value = number();
        return value && take('E') ? value : std::nullopt;
    }
    // The rest of a list of template arguments: words, as Numba writes them.
    bool skip_arguments() {
        while (!at_end() && text_[at_] != 'E')
            if (text_[at_] == 'L' ? !literal() : word().empty()) return false;
        return take('E');
    }

    std::string_view text_;
    size_t at_ = 0;
};

bool is_word_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string last_word(std::string_view name) {
    const size_t colon = name.rfind("::");
    return std::string(colon == name.npos ? name : name.substr(colon + 2));
}

// The position after `def NAME(` in the line; npos: the line does not define it.
size_t after_def(const std::string& line, const std::string& name) {
    size_t at = line.find_first_not_of(" \t");
    if (at == line.npos || line.compare(at, 4, "def ") != 0) return line.npos;
    at = line.find_first_not_of(' ', at + 4);
    if (at == line.npos || line.compare(at, name.size(), name) != 0) return line.npos;
    at = line.find_first_not_of(' ', at + name.size());
    return at != line.npos && line[at] == '(' ? at + 1 : line.npos;
}

// The line of the kernel's `def`: at the declared line, or the nearest above. 0: not found.
uint32_t def_line(const std::string& file, const std::string& name, uint32_t line) {
    for (uint32_t at = line + 1; at > 0; --at) {
        const auto text = source_line(file, at);
        if (text && after_def(*text, name) != std::string::npos) return at;
    }
    return 0;
}

std::vector<std::string> parameter_names(const std::string& file, const std::string& name,
                                         uint32_t line) {
    std::vector<std::string> names;
    auto text = source_line(file, line);
    std::string current;
    int depth = 0;
    bool named = false;  // what follows is an annotation or a default
    for (size_t at = after_def(*text, name); text; text = source_line(file, ++line), at = 0) {
        for (; at < text->size(); ++at) {
            const char c = (*text)[at];
            if (c == '#') break;
            if (c == '(' || c == '[' || c == '{') ++depth;
            if (depth == 0 && (c == ',' || c == ')')) {
                if (!current.empty()) names.push_back(current);
                current.clear();
                named = false;
                if (c == ')') return names;
                continue;
            }
            if (c == ')' || c == ']' || c == '}') --depth;
            if (is_word_letter(c) && !named)
                current += c;
            else if (!current.empty())
                named = true;
        }
    }
    return {};
}

// The arrays that lines from `first` on declare with shared.array, in order; to the end of the
// indented body.
std::vector<std::string> shared_arrays(const std::string& file, uint32_t first) {
    std::vector<std::string> names;
    const auto head = source_line(file, first);
    if (!head) return names;
    const size_t indent = head->find_first_not_of(" \t");
    for (uint32_t line = first + 1;; ++line) {
        const auto text = source_line(file, line);
        if (!text) return names;
        const size_t start = text->find_first_not_of(" \t");
        if (start == text->npos || (*text)[start] == '#' || (*text)[start] == ')') continue;
        if (start <= indent) return names;
        const size_t call = text->find("shared.array(");
        if (call == text->npos) continue;
        size_t end = start;
        while (end < text->size() && is_word_letter((*text)[end])) ++end;
        const size_t equals = text->find_first_not_of(' ', end);
        const bool assigned = equals != text->npos && (*text)[equals] == '=' && equals < call;
        names.push_back(assigned ? text->substr(start, end - start) : "");
    }
}

}  // namespace

bool is_python(std::string_view file) {
    return file.ends_with(".py");
}

std::vector<MangledParameter> numba_parameters(std::string_view mangled) {
    std::vector<MangledParameter> out;
    Mangled rest(mangled);
    if (!rest.skip_name()) return out;
    while (!rest.at_end()) {
        const auto next = rest.type();
        if (!next) break;
        out.push_back(*next);
    }
    return out;
}

std::vector<ParameterText> python_parameters(const machine::LaunchInfo& launch) {
    const std::string& file = launch.declared.file;
    if (!launch.parameters || !is_python(file)) return {};
    const std::string kernel = last_word(launch.kernel);
    const uint32_t line = def_line(file, kernel, launch.declared.line);
    if (!line) return {};
    const std::vector<std::string> names = parameter_names(file, kernel, line);
    std::vector<ParameterText> out;
    uint32_t position = 0;
    for (const MangledParameter& parameter : numba_parameters(launch.mangled)) {
        if (position == names.size() || out.size() + parameter.count > launch.parameters->size())
            return {};
        for (unsigned part = 0; part < parameter.count; ++part) {
            ParameterText text;
            text.position = position + 1;
            if (parameter.array && part == kBeforeData) {
                text.name = names[position];
                text.type = parameter.element;
                text.pointer = true;
            }
            out.push_back(text);
        }
        ++position;
    }
    out.resize(launch.parameters->size());
    return out;
}

std::string python_shared_name(const machine::LaunchInfo& launch, std::string_view name) {
    constexpr std::string_view kPrefix = "_cudapy_smem";
    const std::string& file = launch.declared.file;
    if (!is_python(file) || !name.starts_with(kPrefix) || !launch.shared) return "";
    // Numba numbers the arrays of a kernel as it meets them.
    std::map<unsigned long, std::string_view> by_number;
    for (const machine::SharedVariable& variable : *launch.shared) {
        const std::string_view each = variable.name;
        if (!each.starts_with(kPrefix)) continue;
        const size_t digits = each.rfind('_');
        by_number[std::strtoul(std::string(each.substr(digits + 1)).c_str(), nullptr, 10)] = each;
    }
    const uint32_t line = def_line(file, last_word(launch.kernel), launch.declared.line);
    if (!line) return "";
    const std::vector<std::string> arrays = shared_arrays(file, line);
    if (arrays.size() != by_number.size()) return "";
    size_t position = 0;
    for (const auto& [number, each] : by_number) {
        if (each == name) return arrays[position];
        ++position;
    }
    return "";
}

}  // namespace checks
