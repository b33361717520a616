// SPDX-License-Identifier: MIT
// Parses operands: every form that module.h lists under Operand::Kind.
#include <bit>

#include "ptx/parse/body.h"
#include "ptx/parse/expression.h"

namespace ptx {
namespace {

constexpr unsigned kMaxOperandDepth = 8;
constexpr size_t kMaxElements = 1024;

uint32_t find_parameter(const std::vector<Parameter>& parameters, std::string_view name) {
    for (uint32_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].name == name) return i;
    }
    return UINT32_MAX;
}

}  // namespace

Operand BodyParser::constant() {
    const Constant value = parse_constant(lexer_);
    Operand out;
    out.kind = Operand::Kind::kImmediate;
    out.bits = value.bits;
    if (value.kind == Constant::Kind::kFloat32) out.literal = Operand::Literal::kFloat32;
    if (value.kind == Constant::Kind::kFloat64) out.literal = Operand::Literal::kFloat64;
    return out;
}

Operand BodyParser::module_symbol(const Token& name) {
    Operand out;
    out.kind = Operand::Kind::kSymbol;
    const Variable* known = index_.find_variable(name.text);
    if (known && known->space == Space::kLocal) {  // of PTX ISA 1 and 2; private to each thread
        if (!out_.is_entry)
            lexer_.fail(name.line,
                        name.text,
                        "registers and .local variables outside of functions are only supported in "
                        "kernels: expected a parameter");
        const auto [local, is_new] =
            module_locals_.try_emplace(name.text, uint32_t(out_.variables.size()));
        if (is_new) out_.variables.push_back(*known);
        out.target = Operand::Target::kVariable;
        out.index = local->second;
        out.name = name.text;
        return out;
    }
    out.target = Operand::Target::kModule;
    out.name = name.text;
    if (!index_.declares(name.text)) module_names_.emplace_back(name.text, name.line);
    return out;
}

// The size of the elements of `sym[i]`.
uint64_t BodyParser::element_bytes(const Operand& symbol) const {
    Type type = Type::kNone;
    switch (symbol.target) {
    case Operand::Target::kVariable:
        type = out_.variables[symbol.index].type;
        break;
    case Operand::Target::kParameter:
        type = out_.parameters[symbol.index].type;
        break;
    case Operand::Target::kResult:
        type = out_.results[symbol.index].type;
        break;
    case Operand::Target::kModule:
        if (const Variable* variable = index_.find_variable(symbol.name)) type = variable->type;
        break;
    case Operand::Target::kNone:
        break;
    }
    return std::max(byte_size(type), 1u);
}

// A name: a register, a variable, a parameter, a special register, or a name of the module.
Operand BodyParser::reference() {
    const Token name = lexer_.take();
    std::string_view suffix;
    if (lexer_.peek().kind == Token::Kind::kDotted && lexer_.adjacent(name)) {
        suffix = lexer_.take().text.substr(1);
    }
    Found found = find(name.text, suffix);
    if (found.found) {
        if (found.selector) found.operand.selector = suffix;
        return std::move(found.operand);
    }
    const std::string_view spelled(name.text.data(),
                                   name.text.size() + (suffix.empty() ? 0 : 1 + suffix.size()));
    Operand out;
    if (suffix.empty()) {
        out.kind = Operand::Kind::kSymbol;
        out.name = name.text;
        out.index = find_parameter(out_.parameters, name.text);
        out.target = Operand::Target::kParameter;
        if (out.index != UINT32_MAX) return out;
        out.index = find_parameter(out_.results, name.text);
        out.target = Operand::Target::kResult;
        if (out.index != UINT32_MAX) return out;
    }
    if (name.text[0] == '%') {
        // Elements are .x .y .z .w or .r .g .b .a; the fourth one is empty.
        std::string written(spelled.substr(1));
        constexpr std::string_view kColours = "rgba", kAxes = "xyzw";
        const size_t axis = suffix.size() == 1
                                ? std::min(kColours.find(suffix[0]), kAxes.find(suffix[0]))
                                : std::string_view::npos;
        if (axis != std::string_view::npos) written.back() = axis == 3 ? 'x' : kAxes[axis];
        const std::string_view special = written;
        if (axis == 3 && find_special(special)) {
            Operand zero;
            zero.kind = Operand::Kind::kImmediate;
            zero.name = spelled;
            return zero;
        }
        if (const auto known = find_special(special)) {
            Operand value;
            value.kind = Operand::Kind::kSpecial;
            value.special = *known;
            value.name = spelled;
            return value;
        }
        if (find_special(std::string(special) + ".x")) {  // %tid as a vector of three and a zero
            Operand vector;
            vector.kind = Operand::Kind::kVector;
            for (const char c : {'x', 'y', 'z'}) {
                Operand element;
                element.kind = Operand::Kind::kSpecial;
                element.special = *find_special(std::string(special) + "." + c);
                element.name = spelled;
                vector.elements.push_back(element);
            }
            Operand zero;
            zero.kind = Operand::Kind::kImmediate;
            vector.elements.push_back(zero);
            return vector;
        }
        if (is_unlisted_special(special)) {
            odd_operand_ = true;
            Operand zero;
            zero.kind = Operand::Kind::kImmediate;
            zero.name = spelled;
            return zero;
        }
        lexer_.fail(name.line, spelled, "expected a register that is declared before its use");
    }
    if (!suffix.empty()) lexer_.fail(name.line, spelled, "expected a name without a suffix");
    return module_symbol(name);
}

// [ ... ]; the lexer is at '['.
Operand BodyParser::address(unsigned depth) {
    lexer_.advance();
    Operand out;
    out.kind = Operand::Kind::kAddress;
    const Token first = lexer_.peek();
    if (first.kind == Token::Kind::kName && first.text != "WARP_SZ") {
        Operand base = reference();
        const bool is_symbol = base.kind == Operand::Kind::kSymbol;
        if (!is_symbol && base.kind != Operand::Kind::kRegister) {
            lexer_.fail(first, "a register or a variable in an address");
        }
        if (is_symbol && lexer_.accept('[')) {
            out.offset = int64_t(parse_integer(lexer_, "an index") * element_bytes(base));
            lexer_.expect(']', "after an index");
        }
        out.elements.push_back(std::move(base));
        out.offset = int64_t(uint64_t(out.offset) + uint64_t(parse_offset(lexer_)));
    } else {
        Operand base = constant();
        if (base.literal != Operand::Literal::kInteger) lexer_.fail(first, "an integer address");
        out.elements.push_back(std::move(base));
    }
    // Texture and tensor references: the coordinates become the second element, a sampler between
    // them the third.
    while (lexer_.accept(',')) {
        if (out.elements.size() == 4) lexer_.fail("']'");
        out.elements.push_back(operand(depth + 1));
    }
    if (out.elements.size() == 3 && out.elements[2].kind == Operand::Kind::kVector &&
        out.elements[1].kind != Operand::Kind::kVector) {
        std::swap(out.elements[1], out.elements[2]);
    }
    lexer_.expect(']', "at the end of an address");
    return out;
}

// `{a, b}` or `(a, b)`; the lexer is at the opening bracket. Only a list may be empty.
Operand BodyParser::list(char close, Operand::Kind kind, unsigned depth) {
    lexer_.advance();
    Operand out;
    out.kind = kind;
    if (kind == Operand::Kind::kList && lexer_.accept(close)) return out;
    do {
        if (out.elements.size() == kMaxElements) lexer_.fail("fewer elements");
        out.elements.push_back(operand(depth + 1));
    } while (lexer_.accept(','));
    lexer_.expect(close, "after a list of operands");
    return out;
}

// `%r1+4`, an integer register and a constant where a register is allowed; the lexer is at '+'. The
// sum has the register's width.
Operand BodyParser::sum(Operand base, const Token& place) {
    const Type type = out_.registers[base.index].type;
    const unsigned bytes = byte_size(type);
    if (is_float(type) || bytes < 2 || bytes > 8)
        lexer_.fail(place, "an integer register of 16, 32 or 64 bits before '+'");
    Operand addend;
    addend.kind = Operand::Kind::kImmediate;
    addend.bits = uint64_t(parse_offset(lexer_));
    Instruction add;
    add.opcode = Opcode::k_add;
    add.types = {bytes == 2 ? Type::kU16 : bytes == 4 ? Type::kU32 : Type::kU64};
    Operand out = temporary(type);
    out.name = base.name;
    add.operands = {out, std::move(base), std::move(addend)};
    sums_.push_back(std::move(add));
    return out;
}

Operand BodyParser::operand(unsigned depth) {
    if (depth > kMaxOperandDepth) lexer_.fail("operands that are nested less deeply");
    const Token token = lexer_.peek();
    if (token.is('[')) return address(depth);
    Operand out;
    if (token.is('{')) {
        out = list('}', Operand::Kind::kVector, depth);  // of tex, perhaps followed by |p
    } else if (token.is('!')) {
        const char after = lexer_.after_token();
        if (after != '%' && after != '_' && after != '$' && !(after >= 'A' && after <= 'Z') &&
            !(after >= 'a' && after <= 'z')) {
            return constant();
        }
        lexer_.advance();
        out = reference();
        if (out.kind != Operand::Kind::kRegister) lexer_.fail(token, "a predicate after '!'");
        out.negated = true;
    } else if (token.is('-') && lexer_.after_token() == '%') {
        lexer_.advance();
        out = reference();
        if (out.kind != Operand::Kind::kRegister) lexer_.fail(token, "a register after '-'");
        out.negated = true;
    } else if (token.is_name("_")) {
        lexer_.advance();
        out.kind = Operand::Kind::kSink;
    } else if (token.kind == Token::Kind::kName && token.text != "WARP_SZ") {
        out = reference();
        if (out.kind == Operand::Kind::kSymbol) {
            if (lexer_.accept('[')) {  // the address of an element; in ld and st the element itself
                out.offset = int64_t(parse_integer(lexer_, "an index") * element_bytes(out));
                lexer_.expect(']', "after an index");
            }
            out.offset = int64_t(uint64_t(out.offset) + uint64_t(parse_offset(lexer_)));
            return out;
        }
        if (depth == 0 && out.kind == Operand::Kind::kRegister && lexer_.peek().is('+'))
            return sum(std::move(out), token);
    } else {
        return constant();
    }
    if (!lexer_.peek().is('|')) return out;
    lexer_.advance();
    Operand pair;
    pair.kind = Operand::Kind::kPair;
    pair.elements.push_back(std::move(out));
    const Token second = lexer_.peek();
    pair.elements.push_back(operand(depth + 1));
    if (pair.elements[1].kind != Operand::Kind::kRegister &&
        pair.elements[1].kind != Operand::Kind::kSink) {
        lexer_.fail(second, "a register or '_' after '|'");
    }
    return pair;
}

}  // namespace ptx
