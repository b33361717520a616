// SPDX-License-Identifier: MIT
// Modifiers against types (PTX ISA, the table of each instruction). Registers against types:
// PTX ISA "Type Checking Rules", in legality_operands.cpp.
#include "ptx/legality.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ptx/legality_rules.h"
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

// `(a b)`: one of them must stand; `[a b]`: one may; anything else may stand.
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

std::unordered_map<uint32_t, Rules> make_rules() {
    std::unordered_map<uint32_t, Rules> out;
    for (const WrittenRule& written : kWrittenRules)
        for (const std::string_view opcode : words(written.opcodes))
            for (const std::string_view type : words(written.types))
                out[uint32_t(find_opcode(opcode))][type] = parse_rule(written.modifiers);
    return out;
}

// The type that decides; types of two halves are modifiers to the reader.
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

std::optional<Complaint> check_rule(const Instruction& in, const Rule& rule, unsigned target) {
    const std::string text(in.text);
    auto mods = in.mods;
    mods.reset(size_t(Mod::k_u16x2));
    mods.reset(size_t(Mod::k_s16x2));
    for (size_t i = 0; i < mods.size(); ++i) {
        if (!mods.test(i) || rule.allowed.test(i)) continue;
        return Complaint{"." + std::string(spelling(Mod(i))),
                         "`" + text + "`: this instruction does not take it with this type"};
    }
    for (const Choice& choice : rule.choices) {
        const auto given = mods & choice.mods;
        if (given.count() > 1)
            return Complaint{text, "expected one of " + listed(given) + ", not all of them"};
        if (given.none() && choice.required && target >= 20)
            return Complaint{text, "expected one of " + listed(choice.mods)};
    }
    return std::nullopt;
}

bool is_integer(Type type) {
    return type >= Type::kU8 && type <= Type::kS64;
}

// cvt decides by both types. Formats of 8 bits and packed ones are left to the machine.
std::optional<Complaint> check_conversion(const Instruction& in) {
    if (in.types.size() != 2 || in.operands.size() != 2) return std::nullopt;
    const Type to = in.types[0], from = in.types[1];
    if (from == Type::kTf32 || (to == Type::kTf32 && from != Type::kF32))
        return Complaint{std::string(in.text), "only .f32 converts to .tf32, and nothing from it"};
    if (to == Type::kTf32) return check_rule(in, parse_rule("(rn rz rna) relu satfinite"), 20);
    const auto plain = [](Type type) {
        return is_integer(type) || type == Type::kF16 || type == Type::kBf16 ||
               type == Type::kF32 || type == Type::kF64;
    };
    if (!plain(to) || !plain(from)) return std::nullopt;
    constexpr const char* kToInteger = "rni rzi rmi rpi";
    constexpr const char* kToFloat = "rn rz rm rp";
    const unsigned to_bytes = byte_size(to), from_bytes = byte_size(from);
    const bool has_bf16 = to == Type::kBf16 || from == Type::kBf16;
    const bool has_f32 = to == Type::kF32 || from == Type::kF32;
    std::string mods;
    if (is_integer(to) && is_integer(from)) {
        // Saturation where the source can lie outside.
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
        if (narrows && from == Type::kF32) mods += " relu satfinite";
    }
    return check_rule(in, parse_rule(mods), 20);
}

// Operations and types of atom and red go together; order, scope and cache hints are free.
std::optional<Complaint> check_atomic(const Instruction& in) {
    static constexpr struct {
        Mod operation;
        const char* types;
    } kTypes[] = {
        {Mod::k_and, "b32 b64"},
        {Mod::k_or, "b32 b64"},
        {Mod::k_xor, "b32 b64"},
        {Mod::k_exch, "b32 b64 b128"},
        {Mod::k_cas, "b16 b32 b64 b128"},
        {Mod::k_add, "u32 s32 u64 f32 f64 f16 f16x2 bf16 bf16x2"},
        {Mod::k_inc, "u32"},
        {Mod::k_dec, "u32"},
        {Mod::k_min, "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2"},
        {Mod::k_max, "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2"},
    };
    if (in.has(Mod::k_async) || in.types.size() != 1) return std::nullopt;
    const std::string_view type = spelling(in.types[0]);
    bool known = false;
    for (const auto& [operation, types] : kTypes) {
        if (!in.has(operation)) continue;
        known = true;
        const auto list = words(types);
        if (std::find(list.begin(), list.end(), type) == list.end())
            return Complaint{"." + std::string(type),
                             "`" + std::string(in.text) + "`: expected one of the types " + types};
    }
    const bool half = in.types[0] >= Type::kF16 && in.types[0] <= Type::kBf16x2;
    if (half != in.has(Mod::k_noftz))
        return Complaint{std::string(in.text),
                         half ? "expected .noftz with this type" : ".noftz is for .f16 and .bf16"};
    if (!known)
        return Complaint{std::string(in.text), "expected an operation such as .add or .exch"};
    if (in.opcode == Opcode::k_red && (in.has(Mod::k_exch) || in.has(Mod::k_cas)))
        return Complaint{std::string(in.text), "red has no result: expected atom"};
    if (in.opcode == Opcode::k_red && (in.has(Mod::k_acquire) || in.has(Mod::k_acq_rel)))
        return Complaint{std::string(in.text), "red only writes: expected .relaxed or .release"};
    return std::nullopt;
}

std::optional<Complaint> check_access(const Instruction& in) {
    const bool reads_only = in.space == Space::kConst || in.space == Space::kParam;
    const bool global = in.space == Space::kGlobal || in.space == Space::kGeneric;
    const std::string text(in.text);
    if (in.opcode == Opcode::k_st && in.space == Space::kConst)
        return Complaint{text, "constant memory cannot be written by a kernel"};
    for (const Mod mod : {Mod::k_volatile, Mod::k_relaxed, Mod::k_acquire, Mod::k_release})
        if (in.has(mod) && (reads_only || (in.space == Space::kLocal && mod != Mod::k_volatile)))
            return Complaint{text, "expected a state space that other threads may write"};
    if (in.has(Mod::k_acquire) && in.opcode == Opcode::k_st)
        return Complaint{text, "a store may .release, not .acquire"};
    if (in.has(Mod::k_release) && in.opcode != Opcode::k_st)
        return Complaint{text, "a load may .acquire, not .release"};
    if (in.has(Mod::k_nc) && in.space != Space::kGlobal)
        return Complaint{text, "expected .global with .nc"};
    for (const Mod hint : {Mod::k_L1_evict_normal,
                           Mod::k_L1_evict_unchanged,
                           Mod::k_L1_evict_first,
                           Mod::k_L1_evict_last,
                           Mod::k_L1_no_allocate,
                           Mod::k_L2_64B,
                           Mod::k_L2_128B,
                           Mod::k_L2_256B,
                           Mod::k_L2_cache_hint})
        if (in.has(hint) && !global)
            return Complaint{"." + std::string(spelling(hint)),
                             "cache hints are for .global and generic addresses"};
    if ((in.has(Mod::k_mmio) || in.opcode == Opcode::k_ldu) && !global)
        return Complaint{text, "expected .global or a generic address"};
    return std::nullopt;
}

}  // namespace

std::optional<Complaint> complaint_about(const Instruction& in, const Function& function,
                                         unsigned target) {
    std::optional<Complaint> out;
    switch (in.opcode) {
    case Opcode::k_cvt:
        out = check_conversion(in);
        break;
    case Opcode::k_atom:
    case Opcode::k_red:
        out = check_atomic(in);
        break;
    case Opcode::k_ld:
    case Opcode::k_ldu:
    case Opcode::k_st:
        out = check_access(in);
        break;
    default: {
        static const auto& all = *new auto(make_rules());
        const auto rules = all.find(uint32_t(in.opcode));
        if (rules == all.end()) break;
        // add.f32.f16 and the like, of newer targets, have tables of their own.
        const bool mixed = in.opcode != Opcode::k_set && in.opcode != Opcode::k_slct;
        if (in.types.size() > 1 && mixed) break;
        const std::string_view type = deciding_type(in);
        const auto rule = rules->second.find(type);
        if (rule == rules->second.end()) {
            return Complaint{std::string(in.text),
                             type.empty()
                                 ? "expected a type, for instance .u32"
                                 : "this instruction does not exist for ." + std::string(type)};
        }
        out = check_rule(in, rule->second, target);
    }
    }
    return out ? out : complaint_about_operands(in, function);
}

}  // namespace ptx
