// SPDX-License-Identifier: MIT
#include "ptx/parse/declarations.h"

#include <bit>

#include "ptx/parse/expression.h"
#include "ptx/parse/initialiser.h"
#include "ptx/tables.h"

namespace ptx {
namespace {

constexpr uint32_t kMaxAlign = 1u << 16;
constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 40;
constexpr uint32_t kMaxParameterBytes = 1u << 26;
constexpr size_t kMaxDimensions = 16;
constexpr uint64_t kMaxNames = 65536;

uint32_t parse_alignment(Lexer& lexer) {
    const Token token = lexer.peek();
    const uint64_t align = lexer.expect_integer("an alignment in bytes");
    if (!std::has_single_bit(align) || align > kMaxAlign) {
        lexer.fail(token, "an alignment that is a power of two");
    }
    return uint32_t(align);
}

// `.attribute(.managed)`, `.attribute(.unified(1, 2))`; the lexer is after the directive's name.
void parse_attributes(Lexer& lexer, Specifiers& specifiers) {
    lexer.expect('(', "after .attribute");
    for (unsigned depth = 1; depth > 0;) {
        const Token token = lexer.take();
        if (token.kind == Token::Kind::kEnd) lexer.fail(token, "')' after .attribute");
        if (token.is('(')) ++depth;
        if (token.is(')')) --depth;
        if (token.is_dotted(".managed")) specifiers.is_managed = true;
    }
}

// `[4][2]`, `[]`. Only the first dimension may be empty; it reads as 0.
std::vector<uint64_t> parse_dimensions(Lexer& lexer) {
    std::vector<uint64_t> dimensions;
    while (lexer.peek().is('[')) {
        const Token bracket = lexer.take();
        if (dimensions.size() == kMaxDimensions) lexer.fail(bracket, "fewer dimensions");
        if (lexer.accept(']')) {
            if (!dimensions.empty()) lexer.fail(bracket, "a size in every dimension but the first");
            dimensions.push_back(0);
            continue;
        }
        dimensions.push_back(parse_integer(lexer, "an array size"));
        lexer.expect(']', "after an array size");
    }
    return dimensions;
}

uint64_t product(Lexer& lexer, const Token& name, const std::vector<uint64_t>& dimensions,
                 uint64_t bytes, uint64_t limit) {
    for (const uint64_t dimension : dimensions) {
        if (dimension != 0 && bytes > limit / dimension) lexer.fail(name, "a smaller array");
        bytes *= dimension;
    }
    return bytes;
}

}  // namespace

void skip_bank(Lexer& lexer, Space space, const Token& token) {
    if (space != Space::kConst || !lexer.peek().is('[') || !lexer.adjacent(token)) return;
    lexer.advance();
    const Token bank = lexer.peek();
    if (lexer.expect_integer("the number of a bank of constants") > 10)
        lexer.fail(bank, "a bank from 0 to 10");
    lexer.expect(']', "after the number of a bank");
}

uint64_t Specifiers::element_bytes() const {
    if (is_texture || is_surface) return 8;
    return uint64_t(byte_size(type)) * vector;
}

Specifiers parse_specifiers(Lexer& lexer) {
    Specifiers out;
    out.line = lexer.peek().line;
    bool has_type = false;
    while (lexer.peek().kind == Token::Kind::kDotted) {
        const Token token = lexer.take();
        const std::string_view word = token.text.substr(1);
        const Dotted dotted = find_dotted(word);
        if (word == "align") {
            out.align = parse_alignment(lexer);
        } else if (word == "attribute") {
            parse_attributes(lexer, out);
        } else if (word == "ptr") {
            // What a pointer parameter points to: `.ptr .global .align 4`. Ignored.
            if (find_dotted(lexer.peek().kind == Token::Kind::kDotted ? lexer.peek().text.substr(1)
                                                                      : std::string_view{})
                    .kind == Dotted::Kind::kSpace) {
                lexer.advance();
            }
            if (lexer.accept_dotted(".align")) parse_alignment(lexer);
        } else if (word == "reg" || dotted.kind == Dotted::Kind::kSpace) {
            if (out.is_register || out.space != Space::kNone)
                lexer.fail(token, "one state space, and this is the second");
            out.is_register = word == "reg";
            out.space = dotted.kind == Dotted::Kind::kSpace ? dotted.space : Space::kNone;
            skip_bank(lexer, out.space, token);
        } else if (word == "extern") {
            out.is_extern = true;
        } else if (word == "visible" || word == "weak" || word == "common") {
            // Linkage has no effect within one module.
        } else if (word == "texref" || word == "samplerref" || word == "tex") {
            out.is_texture = true;
            if (word == "tex")
                out.space = Space::kGlobal;
            else
                out.type = Type::kB64;
            has_type = true;
        } else if (word == "surfref") {
            out.is_surface = true;
            out.type = Type::kB64;
            has_type = true;
        } else if (dotted.kind == Dotted::Kind::kType) {
            out.type = dotted.type;
            has_type = true;
        } else if (dotted.kind == Dotted::Kind::kVector) {
            out.vector = dotted.vector;
        } else {
            lexer.fail(token, "a state space, a type or an attribute of a declaration");
        }
    }
    if (!has_type) lexer.fail("a type, for instance .u32");
    if (out.type == Type::kBf16 || out.type == Type::kBf16x2 || out.type == Type::kTf32)
        lexer.fail(out.line,
                   "." + std::string(spelling(out.type)),
                   "alternate formats are for instructions: declare .b16 or .b32");
    if (out.vector > 1 && out.element_bytes() > 16)
        lexer.fail(out.line, {}, "a vector has at most 128 bits");
    if (out.type == Type::kPred && !out.is_register) {
        lexer.fail(out.line, ".pred", "predicates exist in registers only: expected .reg");
    }
    return out;
}

std::vector<std::string_view> parse_names(Lexer& lexer, std::string_view name, MadeNames& made) {
    if (!lexer.accept('<')) return {name};
    const Token count = lexer.peek();
    const uint64_t wanted = lexer.expect_integer("the number of names");
    if (wanted == 0 || wanted > kMaxNames) lexer.fail(count, "a number from 1 to 65536");
    lexer.expect('>', "after the number of names");
    std::vector<std::string_view> out;
    for (uint64_t i = 0; i < wanted; ++i)
        out.push_back(made.emplace_back(std::string(name) + std::to_string(i)));
    return out;
}

std::vector<Variable> parse_variables(Lexer& lexer, const Specifiers& specifiers, MadeNames& made) {
    Variable out;
    const Token name = lexer.expect_name("the name of a variable");
    const std::vector<std::string_view> names = parse_names(lexer, name.text, made);
    out.name = name.text;
    out.line = name.line;
    out.space = specifiers.space;
    out.type = specifiers.type;
    out.is_extern = specifiers.is_extern;
    out.is_managed = specifiers.is_managed;
    out.is_texture = specifiers.is_texture;
    out.is_surface = specifiers.is_surface;
    const uint64_t element = specifiers.element_bytes();
    out.align = specifiers.align ? specifiers.align : uint32_t(std::max<uint64_t>(element, 1));

    std::vector<uint64_t> dimensions = parse_dimensions(lexer);
    out.is_array = !dimensions.empty();
    const bool unsized = out.is_array && dimensions[0] == 0;
    if (specifiers.vector > 1) dimensions.push_back(specifiers.vector);
    const uint64_t scalar = element / specifiers.vector;
    out.bytes = product(lexer, name, dimensions, scalar, kMaxVariableBytes);
    const bool is_initialised = lexer.accept('=');
    if (unsized && !is_initialised && !out.is_extern)
        lexer.fail(name, "a size in the brackets: only .extern arrays may omit it");
    if (is_initialised && specifiers.space != Space::kGlobal && specifiers.space != Space::kConst)
        lexer.fail(name, "no initial value: only .global and .const variables have one");
    if (is_initialised) {
        if (specifiers.is_texture || specifiers.is_surface) {
            // Sampler settings of a reference are ignored, since the runtime's registration
            // contains them.
            if (lexer.peek().is('{'))
                lexer.skip_braces();
            else
                parse_constant(lexer);
        } else {
            const uint64_t written = parse_initialiser(lexer, dimensions, unsized, out);
            if (unsized) out.bytes = written;
        }
    }
    std::vector<Variable> all(names.size(), out);
    for (size_t i = 0; i < names.size(); ++i) all[i].name = names[i];
    return all;
}

void parse_parameter(Lexer& lexer, const Specifiers& specifiers, std::vector<Parameter>& out) {
    const uint64_t end = out.empty() ? 0 : uint64_t(out.back().offset) + out.back().bytes;
    const Token name = lexer.expect_name("the name of a parameter");
    const std::vector<uint64_t> dimensions = parse_dimensions(lexer);
    Parameter parameter;
    parameter.name = name.text;
    parameter.type = specifiers.type;
    parameter.vector = specifiers.vector;
    parameter.is_array = !dimensions.empty();
    parameter.is_unsized = parameter.is_array && dimensions[0] == 0;
    const uint64_t element = specifiers.type == Type::kPred ? 1 : specifiers.element_bytes();
    parameter.bytes = uint32_t(product(lexer, name, dimensions, element, kMaxParameterBytes));
    parameter.align =
        specifiers.align ? specifiers.align : uint32_t(std::max<uint64_t>(element, 1));
    const uint64_t offset = (end + parameter.align - 1) & ~uint64_t(parameter.align - 1);
    if (offset + parameter.bytes > kMaxParameterBytes)
        lexer.fail(name, "fewer bytes of parameters");
    parameter.offset = uint32_t(offset);
    out.push_back(parameter);
}

std::vector<Parameter> parse_parameters(Lexer& lexer, std::vector<bool>* registers) {
    std::vector<Parameter> out;
    lexer.expect('(', "before parameters");
    if (lexer.accept(')')) return out;
    do {
        const Specifiers specifiers = parse_specifiers(lexer);
        if (specifiers.space != Space::kNone && specifiers.space != Space::kParam) {
            lexer.fail(specifiers.line, {}, "expected .param or .reg before a parameter");
        }
        parse_parameter(lexer, specifiers, out);
        if (registers) registers->push_back(specifiers.is_register);
    } while (lexer.accept(','));
    lexer.expect(')', "after parameters");
    return out;
}

}  // namespace ptx
