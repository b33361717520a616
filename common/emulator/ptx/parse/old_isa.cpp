// SPDX-License-Identifier: MIT
#include "ptx/parse/old_isa.h"

#include "ptx/legality/legality.h"

namespace ptx {
namespace {

bool before_1_4(const ModuleIndex& index) {
    return index.version_major == 1 && index.version_minor < 4;
}

bool rounds(const Instruction& in) {
    for (const Mod mod : {Mod::k_approx, Mod::k_full, Mod::k_rn, Mod::k_rz, Mod::k_rm, Mod::k_rp})
        if (in.has(mod)) return true;
    return false;
}

// The default of PTX ISA 1.0 to 1.3; kCount: the instruction has none.
Mod default_rounding(Opcode opcode, Type type) {
    const bool is_single = type == Type::kF32;
    if (!is_single && type != Type::kF64) return Mod::kCount;
    switch (opcode) {
    case Opcode::k_div:
    case Opcode::k_sqrt:
        return is_single ? Mod::k_approx : Mod::k_rn;
    case Opcode::k_rcp:
    case Opcode::k_sin:
    case Opcode::k_cos:
    case Opcode::k_lg2:
    case Opcode::k_ex2:
        return is_single ? Mod::k_approx : Mod::kCount;
    case Opcode::k_rsqrt:
        return Mod::k_approx;
    case Opcode::k_mad:
        return Mod::k_rn;
    default:
        return Mod::kCount;
    }
}

}  // namespace

bool declares_parameters_in_body(const ModuleIndex& index) {
    return before_1_4(index);
}

std::vector<Parameter> parse_body_parameters(Lexer lexer) {
    std::vector<Parameter> out;
    lexer.expect('{', "before a body");
    Token before;
    for (unsigned depth = 1; depth > 0;) {
        const Token token = lexer.peek();
        if (token.kind == Token::Kind::kEnd) lexer.fail("'}' at the end of the function");
        const bool in_mnemonic = lexer.adjacent(before) && (before.kind == Token::Kind::kName ||
                                                            before.kind == Token::Kind::kDotted);
        before = token;
        if (!token.is_dotted(".param") || in_mnemonic) {  // `ld.param` is not a declaration
            if (token.is('{')) ++depth;
            if (token.is('}')) --depth;
            lexer.advance();
            continue;
        }
        const Specifiers specifiers = parse_specifiers(lexer);
        do {
            parse_parameter(lexer, specifiers, out);
        } while (lexer.accept(','));
        lexer.expect(';', "after a parameter");
    }
    return out;
}

void complete_modifiers(Instruction& in, const ModuleIndex& index) {
    if (in.types.empty()) return;
    const bool is_old = before_1_4(index);
    // mad.f32 has no rounding modifier for sm_1x, nor before PTX ISA 3.2.
    const bool before_3_2 =
        index.version_major < 3 || (index.version_major == 3 && index.version_minor < 2);
    const bool may_omit = is_old || (in.opcode == Opcode::k_mad && in.type() == Type::kF32 &&
                                     (index.target < 20 || before_3_2));
    if (may_omit && in.types.size() == 1 && !rounds(in)) {
        const Mod rounding = default_rounding(in.opcode, in.type());
        if (rounding != Mod::kCount) in.mods.set(size_t(rounding));
    }
    if (index.target >= 20) return;
    // Before PTX ISA 1.5, conversions from and to .f64 keep subnormal numbers.
    const bool has_double =
        in.opcode == Opcode::k_cvt && (in.types[0] == Type::kF64 || in.types.back() == Type::kF64);
    if (has_double && index.version_major == 1 && index.version_minor < 5) return;
    if (may_flush(in)) in.mods.set(size_t(Mod::k_ftz));
}

}  // namespace ptx
