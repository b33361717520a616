// SPDX-License-Identifier: MIT
// The student's source as text on disk: lines to show, and the few declarations that give arrays
// their names (a kernel's parameters, a shared or module variable). It is a reader of declarations,
// not a C++ parser: declarations that it does not understand stay unnamed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace checks {

// Line `line` (1-based) of the file as typed, without trailing white space; empty when there is
// none.
std::optional<std::string> source_line(const std::string& file, uint32_t line);

// The text of a file that exists in memory only: what the program compiles while it runs. `file` is
// the name that the compiler was given, and its PTX has.
void set_source(const std::string& file, const std::string& text);
// Line `line` of a text that set_source was given; empty for a file on disk.
std::optional<std::string> run_time_line(const std::string& file, uint32_t line);

struct ParameterText {
    std::string name;  // empty when unnamed
    std::string type;  // without qualifiers and without the last `*`: what the pointer points to
    bool pointer = false;
    bool is_const = false;  // the pointee, for a pointer
    bool pack = false;      // Args... args
    uint32_t position = 0;  // in the source, 1 is the first; 0: as in PTX
};

// The parameters of the __global__ function `kernel` (its plain name) whose body begins at `line`
// or later, the nearest declaration above it; line 0: the first in the file. Empty: not found.
std::optional<std::vector<ParameterText>> find_kernel(const std::string& file,
                                                      std::string_view kernel, uint32_t line);

struct VariableText {
    std::string type;               // of one element
    std::vector<uint64_t> extents;  // of all dimensions; 0 where it is not a known constant
    bool array = false;
};
// The declaration of `name` marked with `qualifier` ("__shared__", "__device__", "__constant__").
// Several of that name: the one in the body of `function` (a plain name; empty: unknown), else the
// first.
std::optional<VariableText> find_variable(const std::string& file, std::string_view qualifier,
                                          std::string_view name, std::string_view function = {});

// The arrays of a thread's own that line `line` indexes, each with its nearest declaration above.
struct LocalArrayText {
    std::string name;
    VariableText declared;
};
std::vector<LocalArrayText> local_arrays(const std::string& file, uint32_t line);

// How threads that ended on `end_line`, the closing brace of a function, came past `line` in its
// body: by the only `return` above it, or round the block of an `if` or a loop that holds it. Line
// 0: the text leaves a choice.
struct WayPast {
    uint32_t line = 0;
    bool returned = false;
};
WayPast way_past(const std::string& file, uint32_t line, uint32_t end_line);

// Bytes of a type as spelled in `file`, through its typedefs, using-declarations and #defines;
// 0 when unknown, as for structs.
uint32_t type_bytes(const std::string& file, const std::string& type);

// A struct of plain data members. Nothing for one with base classes, virtual functions, bit-fields,
// an alignment of its own, or members of unknown types.
struct StructText {
    struct Member {
        std::string name;
        std::string type;  // of one element: `float`, `float*`
        uint64_t offset = 0, bytes = 0;
        uint64_t element_bytes = 0;  // less than `bytes`: an array
    };
    std::vector<Member> members;
    uint64_t bytes = 0, align = 1;
};
std::optional<StructText> struct_text(const std::string& file, const std::string& name,
                                      int depth = 0);

}  // namespace checks
