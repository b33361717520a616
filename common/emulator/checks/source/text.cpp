// SPDX-License-Identifier: MIT
#include "checks/source/text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <unordered_map>

#include "checks/source/source.h"

namespace checks {
namespace {

// Replaces comments and the contents of literals by spaces. Offsets and lines do not change.
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

}  // namespace

size_t Source::line_of(size_t offset) const {
    return size_t(std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin());
}

namespace {

using Cache = std::unordered_map<std::string, std::unique_ptr<Source>>;
Cache& cache() {
    static auto& instance = *new Cache;
    return instance;
}

std::unique_ptr<Source> parsed(const std::string& file, const std::string& text) {
    auto result = std::make_unique<Source>();
    result->file = file;
    result->code = blanked(text);
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        result->starts.push_back(at);
        result->lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return result;
}

}  // namespace

const Source* source(const std::string& file) {
    const auto [entry, fresh] = cache().try_emplace(file);
    if (!fresh) return entry->second.get();
    if (file.empty()) return nullptr;
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return nullptr;
    std::ostringstream content;
    content << stream.rdbuf();
    entry->second = parsed(file, content.str());
    return entry->second.get();
}

void set_source(const std::string& file, const std::string& text) {
    // Compilers write the whole path of a name that has no folder.
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(file, error);
    for (const std::string& path : {file, error ? file : whole.lexically_normal().string()}) {
        auto fresh = parsed(path, text);
        fresh->compiled_at_run_time = true;
        auto& entry = cache()[path];
        if (entry) {
            *entry = std::move(*fresh);  // others may point to it
        } else {
            entry = std::move(fresh);
        }
    }
}

std::optional<std::string> run_time_line(const std::string& file, uint32_t line) {
    const auto entry = cache().find(file);
    if (entry == cache().end() || !entry->second || !entry->second->compiled_at_run_time) return {};
    return source_line(file, line);
}

std::vector<const Source*> with_includes(const Source& first) {
    constexpr size_t kMost = 32;
    std::vector<const Source*> found{&first};
    for (size_t next = 0; next < found.size(); ++next) {
        const Source& from = *found[next];
        const size_t slash = from.file.rfind('/');
        const std::string folder = slash == from.file.npos ? "" : from.file.substr(0, slash + 1);
        for (const std::string& line : from.lines) {
            size_t at = skip_space(line, 0);
            if (at >= line.size() || line[at] != '#') continue;
            at = skip_space(line, at + 1);
            if (line.compare(at, 7, "include") != 0) continue;
            const size_t open = skip_space(line, at + 7);
            if (open >= line.size() || line[open] != '"') continue;
            const size_t close = line.find('"', open + 1);
            if (close == line.npos) continue;
            const std::string name = line.substr(open + 1, close - open - 1);
            const Source* header = source(name[0] == '/' ? name : folder + name);
            const bool known = std::find(found.begin(), found.end(), header) != found.end();
            if (header && !known && found.size() < kMost) found.push_back(header);
        }
    }
    return found;
}

size_t find_word(const std::string& code, std::string_view word, size_t from) {
    for (size_t at = code.find(word, from); at != code.npos; at = code.find(word, at + 1)) {
        const bool starts = at == 0 || !word_char(code[at - 1]);
        const size_t end = at + word.size();
        if (starts && (end >= code.size() || !word_char(code[end]))) return at;
    }
    return code.npos;
}

size_t skip_space(const std::string& code, size_t at) {
    while (at < code.size() && is_space(code[at])) ++at;
    return at;
}

size_t close_of(const std::string& code, size_t open) {
    int depth = 0;
    for (size_t i = open; i < code.size(); ++i) {
        if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
        if ((code[i] == ')' || code[i] == ']' || code[i] == '}') && --depth == 0) return i + 1;
    }
    return code.npos;
}

std::vector<std::string> tokens(const std::string& text) {
    std::vector<std::string> result;
    for (size_t i = 0; i < text.size();) {
        if (is_space(text[i])) {
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
                    if (!is_space(text[i])) word += text[i];
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

bool is_noise(const std::string& word) {
    static const char* const kNoise[] = {
        "volatile",  "__restrict__", "__restrict", "restrict",     "__grid_constant__",
        "struct",    "class",        "typename",   "register",     "static",
        "extern",    "__shared__",   "__device__", "__constant__", "__managed__",
        "constexpr", "inline",       "alignas",    "__align__",    "mutable",
        "enum",      "union"};
    return std::find(std::begin(kNoise), std::end(kNoise), word) != std::end(kNoise);
}

std::string spelled(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) {
        if (!out.empty() && is_word(word)) out += ' ';
        out += word;
    }
    return out;
}

}  // namespace checks
