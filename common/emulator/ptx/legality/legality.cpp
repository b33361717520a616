// SPDX-License-Identifier: MIT
// Checks modifiers against types (PTX ISA, the table of each instruction) by the rows of
// instructions.def. operands.cpp checks registers against types (PTX ISA "Type Checking Rules").
#include "ptx/legality/legality.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ptx/legality/parts.h"
#include "ptx/tables.h"

namespace ptx {
namespace {

struct Choice {
    std::bitset<size_t(Mod::kCount)> mods;
    bool required;
};
struct Rule {
    std::bitset<size_t(Mod::kCount)> allowed;
    std::vector<Choice> choices;  // at most one of each; exactly one where required
};
using Rules = std::unordered_map<std::string_view, Rule>;  // by the name of a type

// Reads the modifiers of a PTX_RULE.
Rule parse_rule(std::string_view text) {
    Rule rule;
    bool inside = false;
    for (std::string_view word : words(text)) {
        if (word[0] == '(' || word[0] == '[') {
            rule.choices.push_back({{}, word[0] == '('});
            inside = true;
            word.remove_prefix(1);
        }
        const bool closes = word.back() == ')' || word.back() == ']';
        if (closes) word.remove_suffix(1);
        const size_t mod = size_t(find_dotted(word).mod);
        rule.allowed.set(mod);
        if (inside) rule.choices.back().mods.set(mod);
        if (closes) inside = false;
    }
    return rule;
}

struct WrittenRule {
    const char* opcodes;
    const char* types;
    const char* modifiers;
};
constexpr WrittenRule kWrittenRules[] = {
#define PTX_RULE(opcodes, types, modifiers) {opcodes, types, modifiers},
#include "ptx/instructions.def"
};

std::unordered_map<uint32_t, Rules> make_rules() {
    std::unordered_map<uint32_t, Rules> out;
    for (const WrittenRule& written : kWrittenRules)
        for (const std::string_view opcode : words(written.opcodes))
            for (const std::string_view type : words(written.types))
                out[uint32_t(find_opcode(opcode))][type] = parse_rule(written.modifiers);
    return out;
}

const Rules* rules_of(Opcode opcode) {
    static const auto& all = *new auto(make_rules());
    const auto found = all.find(uint32_t(opcode));
    return found == all.end() ? nullptr : &found->second;
}

// The type that selects the rule; the reader stores types of two halves as modifiers.
std::string_view deciding_type(const Instruction& in) {
    if (in.has(Mod::k_u16x2)) return "u16x2";
    if (in.has(Mod::k_s16x2)) return "s16x2";
    if (in.types.empty()) return {};
    if (in.opcode == Opcode::k_slct) return spelling(in.types[0]);
    return spelling(in.types.back());
}

std::string listed(const std::bitset<size_t(Mod::kCount)>& mods) {
    std::string out;
    for (size_t i = 0; i < mods.size(); ++i)
        if (mods.test(i)) out += (out.empty() ? "." : " .") + std::string(spelling(Mod(i)));
    return out;
}

std::optional<Complaint> check_rule(const Instruction& in, const Rule& rule) {
    const std::string text(in.text);
    auto mods = in.mods;
    mods.reset(size_t(Mod::k_u16x2));
    mods.reset(size_t(Mod::k_s16x2));
    for (size_t i = 0; i < mods.size(); ++i) {
        if (!mods.test(i) || rule.allowed.test(i)) continue;
        return Complaint{"." + std::string(spelling(Mod(i))),
                         "`" + text + "`: not allowed for this instruction and type"};
    }
    for (const Choice& choice : rule.choices) {
        const auto given = mods & choice.mods;
        if (given.count() > 1)
            return Complaint{text, "expected one of " + listed(given) + ", not all of them"};
        if (given.none() && choice.required)
            return Complaint{text, "expected one of " + listed(choice.mods)};
    }
    return std::nullopt;
}

bool is_integer(Type type) {
    return type >= Type::kU8 && type <= Type::kS64;
}

// Packs two values into one register: PTX ISA "cvt.pack".
std::optional<Complaint> check_packing(const Instruction& in) {
    const bool to_half = !in.types.empty() && byte_size(in.types[0]) == 2;
    const size_t small =
        in.has(Mod::k_u4) + in.has(Mod::k_s4) + in.has(Mod::k_u2) + in.has(Mod::k_s2);
    // The reader stores types of 4 and 2 bits as modifiers.
    const auto& types = in.types;
    const size_t source = small ? 0 : 1;
    const bool right = types.size() == source + (to_half && !small ? 1 : 2) &&
                       types[source] == Type::kS32 &&
                       (types.size() == source + 1 || types[source + 1] == Type::kB32);
    if (right) return std::nullopt;
    return Complaint{std::string(in.text),
                     "expected .s32 as the type of both sources, and .b32 for a third"};
}

const char* tf32_modifiers(const Instruction& in, unsigned target) {
    if (in.has(Mod::k_rna)) return "(rna) satfinite";
    return target >= 100 ? "(rn rz rna) relu satfinite" : "(rn rz rna) relu";
}

// set: the result types for each source type; setp: a second predicate.
std::optional<Complaint> check_comparison(const Instruction& in) {
    if (in.opcode == Opcode::k_setp && !in.operands.empty() &&
        in.operands[0].kind == Operand::Kind::kPair &&
        (in.type() == Type::kF16 || in.type() == Type::kBf16))
        return Complaint{std::string(in.text),
                         "a comparison of single halves has one predicate, not p|q"};
    if (in.opcode != Opcode::k_set || in.types.size() != 2) return std::nullopt;
    const Type from = in.types[1];
    const char* results = "u32 s32 f32 f16 bf16";
    if (from == Type::kF16) results = "u16 s16 u32 s32 f16 bf16";
    if (from == Type::kBf16) results = "u16 s16 u32 s32 bf16";
    if (from == Type::kF16x2) results = "u32 s32 f16x2";
    if (from == Type::kBf16x2) results = "u32 s32 bf16x2";
    const auto list = words(results);
    if (std::find(list.begin(), list.end(), spelling(in.types[0])) != list.end())
        return std::nullopt;
    return Complaint{"." + std::string(spelling(in.types[0])),
                     "`" + std::string(in.text) + "`: expected a result of one of the types " +
                         results};
}

// Added with sm_100: packed .f32, and the minimum or maximum of three.
std::optional<Complaint> check_target(const Instruction& in, unsigned target) {
    if (target >= 100 || in.types.size() != 1) return std::nullopt;
    const bool three =
        (in.opcode == Opcode::k_min || in.opcode == Opcode::k_max) && in.operands.size() == 4;
    if (!three && in.type() != Type::kF32x2) return std::nullopt;
    return Complaint{std::string(in.text),
                     "this needs .target sm_100 or higher, but the module has sm_" +
                         std::to_string(target)};
}

}  // namespace

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> out;
    while (true) {
        const size_t begin = text.find_first_not_of(' ');
        if (begin == std::string_view::npos) return out;
        text.remove_prefix(begin);
        const size_t end = std::min(text.find(' '), text.size());
        out.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

// instructions.def has no rule for the opcode.
std::optional<Complaint> check_none(const Instruction&, unsigned) {
    return std::nullopt;
}

// cvt depends on both types. The machine checks 8-bit and packed formats.
std::optional<Complaint> check_conversion(const Instruction& in, unsigned target) {
    if (in.has(Mod::k_pack)) return check_packing(in);
    if (in.types.size() != 2 || in.operands.size() != 2) return std::nullopt;
    const Type to = in.types[0], from = in.types[1];
    for (const Type type : in.types)
        if (type == Type::kPred || (type >= Type::kB8 && type <= Type::kB128))
            return Complaint{"." + std::string(spelling(type)),
                             "`" + std::string(in.text) +
                                 "`: expected a numeric type such as .u32 or .f32"};
    if (from == Type::kTf32 || (to == Type::kTf32 && from != Type::kF32))
        return Complaint{std::string(in.text),
                         "only .f32 converts to .tf32, and .tf32 converts to no type"};
    if (to == Type::kTf32) return check_rule(in, parse_rule(tf32_modifiers(in, target)));
    const auto plain = [](Type type) {
        return is_integer(type) || type == Type::kF16 || type == Type::kBf16 ||
               type == Type::kF32 || type == Type::kF64;
    };
    if (!plain(to) || !plain(from)) return std::nullopt;
    constexpr const char* kToInteger = "rni rzi rmi rpi";
    constexpr const char* kToFloat = "rn rz rm rp";
    const unsigned to_bytes = byte_size(to), from_bytes = byte_size(from);
    if ((to == Type::kBf16 && is_integer(from) && from_bytes == 1) ||
        (from == Type::kBf16 && is_integer(to) && to_bytes == 1))
        return Complaint{std::string(in.text), "there is no conversion between .bf16 and 8 bits"};
    const bool has_bf16 = to == Type::kBf16 || from == Type::kBf16;
    const bool has_f32 = to == Type::kF32 || from == Type::kF32;
    std::string mods;
    if (is_integer(to) && is_integer(from)) {
        // Saturation is allowed if the source can be out of range.
        const bool fits = is_signed(to) == is_signed(from) ? to_bytes >= from_bytes
                                                           : is_signed(to) && to_bytes > from_bytes;
        if (!fits) mods = "sat";
    } else if (is_integer(to)) {
        mods = "(" + std::string(kToInteger) + ")";
        if (!has_bf16) mods += " sat";
        if (has_f32) mods += " ftz";
    } else if (is_integer(from)) {
        mods = "(" + std::string(kToFloat) + ")";
        if (!has_bf16) mods += " sat";
        if (has_f32) mods += " ftz";
    } else if (to == from) {
        mods = "[" + std::string(kToInteger) + "]";
        if (!has_bf16) mods += " sat";
        if (has_f32) mods += " ftz";
    } else {
        const bool narrows = to_bytes < from_bytes;
        if (narrows)
            mods = "(" + std::string(kToFloat) + ")";
        else if (has_bf16)
            mods = "[" + std::string(kToFloat) + "]";
        if (!has_bf16) mods += " sat";
        if (has_f32) mods += " ftz";
        const bool limited = in.has(Mod::k_relu) || in.has(Mod::k_satfinite);
        if (narrows && from == Type::kF32 && limited) mods = "(rn rz) relu satfinite";
    }
    return check_rule(in, parse_rule(mods));
}

// By the rows PTX_RULE of instructions.def.
std::optional<Complaint> check_by_type(const Instruction& in, unsigned target) {
    // add.f32.f16 and the like, of newer targets, have tables of their own.
    const bool mixed = in.opcode != Opcode::k_set && in.opcode != Opcode::k_slct &&
                       in.opcode != Opcode::k_dp2a && in.opcode != Opcode::k_dp4a;
    if (in.types.size() > 1 && mixed) return std::nullopt;
    const Rules* rules = rules_of(in.opcode);
    if (!rules) return std::nullopt;
    const std::string_view type = deciding_type(in);
    const auto rule = rules->find(type);
    if (rule == rules->end())
        return Complaint{std::string(in.text),
                         type.empty()
                             ? "expected a type, for instance .u32"
                             : "this instruction does not exist for ." + std::string(type)};
    if (auto wrong = check_rule(in, rule->second)) return wrong;
    if (auto wrong = check_comparison(in)) return wrong;
    return check_target(in, target);
}

bool may_flush(const Instruction& in) {
    if (in.types.empty()) return false;
    if (in.opcode == Opcode::k_cvt) {
        if (in.types.size() != 2) return false;
        Instruction flushed = in;
        flushed.mods.set(size_t(Mod::k_ftz));
        const bool has_single = in.types[0] == Type::kF32 || in.types[1] == Type::kF32;
        return has_single && !check_conversion(flushed, 0);
    }
    const Rules* rules = rules_of(in.opcode);
    if (!rules || in.types.back() != Type::kF32) return false;
    const auto rule = rules->find(deciding_type(in));
    return rule != rules->end() && rule->second.allowed.test(size_t(Mod::k_ftz));
}

std::optional<Complaint> complaint_about(const Instruction& in, const Function& function,
                                         unsigned target) {
    using Check = std::optional<Complaint> (*)(const Instruction&, unsigned);
    static constexpr Check kChecks[] = {
        check_none,
#define PTX_OPCODE(name, decoder, rule, ...) check_##rule,
#include "ptx/instructions.def"
    };
    if (auto wrong = kChecks[size_t(in.opcode)](in, target)) return wrong;
    return complaint_about_operands(in, function);
}

}  // namespace ptx
