// SPDX-License-Identifier: MIT
// Maps an instruction's location id to the source: `.loc` with inlining, `.file`, and which files
// belong to the user.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ptx/module.h"

namespace ptx {

// Whether a Python file belongs to a library, to judge by its path: Python's own, an installed one,
// or text that was compiled without a file. The program itself may have none (`python -c`).
bool is_python_library(std::string_view path);

// Whether a file belongs to the user: false under the include directories of a CUDA toolkit, of
// CUB, Thrust and libcu++, and of the compiler. Examines the disk, or only the path if the file
// does not exist.
class UserFiles {
public:
    bool is_user_file(const std::string& path);

private:
    bool decide(const std::string& path);
    bool is_toolkit_include(const std::string& directory);

    std::unordered_map<std::string, bool> files_, directories_;
};

class SourceMap {
public:
    struct Place {
        uint32_t file = 0, line = 0, column = 0;
        auto operator<=>(const Place&) const = default;
    };

    void add_file(uint32_t index, std::string_view path) { files_[index] = std::string(path); }
    // The body of `.section .debug_str`, as text. It is parsed when a name is first needed.
    void set_strings(std::string_view body, uint32_t line) {
        strings_text_ = body, strings_line_ = line;
    }

    // Locations that follow belong to this PTX function.
    void begin_function(std::string_view mangled);
    // `.loc`: returns the id of this place. `label` names the inlined function (empty: not
    // inlined), and `inlined_at` is a place of an earlier add. Line 0 marks code that the compiler
    // generated: it is attributed to the preceding place.
    uint32_t add(const Place& place, std::string_view label, int64_t label_offset,
                 const Place& inlined_at);

    std::vector<SourceLine> chain(uint32_t id) const;
    SourceLine user_line(uint32_t id) const;
    bool in_user_file(uint32_t id) const;

private:
    struct Entry {
        Place place;
        std::string_view label;
        int64_t label_offset = 0;
        uint32_t parent = 0;    // id of the place it was inlined at; less than its own
        uint32_t function = 0;  // index into functions_
    };
    std::string function_name(const Entry& entry) const;
    SourceLine line_of(const Entry& entry) const;
    void read_strings() const;

    std::unordered_map<uint32_t, std::string> files_;
    std::vector<std::string> functions_;
    std::vector<Entry> entries_;        // id - 1
    std::map<Place, uint32_t> latest_;  // of the current function
    std::map<std::tuple<Place, std::string_view, int64_t, uint32_t>, uint32_t> known_;
    uint32_t previous_ = 0;

    std::string_view strings_text_;
    uint32_t strings_line_ = 1;
    mutable bool strings_read_ = false;
    mutable std::string strings_;
    mutable std::unordered_map<std::string_view, size_t> labels_;
    mutable std::unordered_map<size_t, std::string> names_;  // by place in strings_
    mutable UserFiles user_files_;
};

}  // namespace ptx
