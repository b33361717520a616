// SPDX-License-Identifier: MIT
// The contents of a module except for its bodies, and the parsers that fill it.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "ptx/parse/declarations.h"
#include "ptx/source_map.h"

namespace ptx {

// The place of a function's body in the text, and the parts of its header that FunctionHeader does
// not hold.
struct BodyPlace {
    size_t begin = 0;  // offset of '{'
    uint32_t line = 0;
    bool is_noreturn = false;
    bool declares_parameters = false;  // in the body, as in PTX ISA 1.0 to 1.3
    std::vector<bool> register_parameters, register_results;  // declared in .reg, old style
};

struct ModuleIndex {
    std::string text, name;
    unsigned target = 0, version_major = 0, version_minor = 0;
    std::vector<Variable> variables;
    std::vector<FunctionHeader> functions;
    std::vector<BodyPlace> bodies;  // one for each of `functions`
    std::unordered_map<std::string_view, uint32_t> variable_index, function_index;
    std::unordered_map<std::string_view, std::string_view> aliases;
    // Offset and line of each `.reg` outside of functions, which PTX ISA 1 and 2 allow.
    std::vector<std::pair<size_t, uint32_t>> register_statements;
    MadeNames made_names;
    std::vector<Unsupported> unsupported;  // unknown directives
    SourceMap sources;

    const FunctionHeader* find_function(std::string_view wanted) const;
    const Variable* find_variable(std::string_view wanted) const;
    bool declares(std::string_view wanted) const;
};

// Parses the whole text except the bodies. Throws ParseError.
void index_module(ModuleIndex& index);

// `.file 1 "name"`; the lexer is after `.file`.
void parse_file_directive(Lexer& lexer, SourceMap& sources);

// Parses one body. Appends to `unsupported`. Throws ParseError.
void parse_body(ModuleIndex& index, uint32_t function, Function& out,
                std::vector<Unsupported>& unsupported);

}  // namespace ptx
