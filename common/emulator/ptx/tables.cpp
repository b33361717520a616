// SPDX-License-Identifier: MIT
#include "ptx/tables.h"

#include <array>
#include <unordered_map>

namespace ptx {
namespace {

constexpr std::string_view kOpcodes[] = {
    "",
#define PTX_OPCODE(name, ...) #name,
#include "ptx/instructions.def"
};
constexpr MemoryOperand kMemoryOperands[] = {
    MemoryOperand::k_none,
#define PTX_OPCODE(name, decoder, rule, operands, memory) MemoryOperand::k_##memory,
#include "ptx/instructions.def"
};
constexpr std::string_view kMods[] = {
#define PTX_MODIFIER(name, spelling) spelling,
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
};
constexpr std::string_view kSpecials[] = {
#define PTX_SPECIAL(name, spelling, ...) spelling,
#include "ptx/specials.def"
#undef PTX_SPECIAL
};
constexpr Type kSpecialTypes[] = {
#define PTX_SPECIAL(name, spelling, type, ...) Type::type,
#include "ptx/specials.def"
#undef PTX_SPECIAL
};

struct NamedType {
    std::string_view name;
    Type type;
};
constexpr NamedType kTypes[] = {
    {"pred", Type::kPred},   {"b8", Type::kB8},     {"b16", Type::kB16},
    {"b32", Type::kB32},     {"b64", Type::kB64},   {"b128", Type::kB128},
    {"u8", Type::kU8},       {"u16", Type::kU16},   {"u32", Type::kU32},
    {"u64", Type::kU64},     {"s8", Type::kS8},     {"s16", Type::kS16},
    {"s32", Type::kS32},     {"s64", Type::kS64},   {"f16", Type::kF16},
    {"f16x2", Type::kF16x2}, {"bf16", Type::kBf16}, {"bf16x2", Type::kBf16x2},
    {"tf32", Type::kTf32},   {"f32", Type::kF32},   {"f64", Type::kF64},
    {"f32x2", Type::kF32x2},
};

struct NamedSpace {
    std::string_view name;
    Space space;
};
constexpr NamedSpace kSpaces[] = {
    {"param", Space::kParam},
    {"param::entry", Space::kParam},
    {"param::func", Space::kParam},
    {"global", Space::kGlobal},
    {"shared", Space::kShared},
    {"shared::cta", Space::kShared},
    {"shared::cluster", Space::kShared},
    {"local", Space::kLocal},
    {"const", Space::kConst},
};

std::unordered_map<std::string_view, Dotted> make_dotted() {
    std::unordered_map<std::string_view, Dotted> map;
    for (size_t i = 0; i < std::size(kMods); ++i) {
        Dotted dotted;
        dotted.kind = Dotted::Kind::kMod;
        dotted.mod = Mod(i);
        map[kMods[i]] = dotted;
    }
    for (const NamedType& entry : kTypes) {
        Dotted dotted;
        dotted.kind = Dotted::Kind::kType;
        dotted.type = entry.type;
        map[entry.name] = dotted;
    }
    for (const NamedSpace& entry : kSpaces) {
        Dotted dotted;
        dotted.kind = Dotted::Kind::kSpace;
        dotted.space = entry.space;
        map[entry.name] = dotted;
    }
    for (const auto& [name, width] :
         std::array<std::pair<std::string_view, uint8_t>, 3>{{{"v2", 2}, {"v4", 4}, {"v8", 8}}}) {
        Dotted dotted;
        dotted.kind = Dotted::Kind::kVector;
        dotted.vector = width;
        map[name] = dotted;
    }
    return map;
}

template <class Enum, size_t n>
std::unordered_map<std::string_view, Enum> make_index(const std::string_view (&names)[n]) {
    std::unordered_map<std::string_view, Enum> map;
    for (size_t i = 0; i < n; ++i) {
        if (!names[i].empty()) map[names[i]] = Enum(i);
    }
    return map;
}

}  // namespace

Opcode find_opcode(std::string_view mnemonic) {
    static const auto& index = *new auto(make_index<Opcode>(kOpcodes));
    const auto found = index.find(mnemonic);
    return found == index.end() ? Opcode::kUnknown : found->second;
}

std::optional<Special> find_special(std::string_view name) {
    static const auto& index = *new auto(make_index<Special>(kSpecials));
    const auto found = index.find(name);
    if (found == index.end()) return std::nullopt;
    return found->second;
}

Type type_of(Special special) {
    return special < Special::kCount ? kSpecialTypes[size_t(special)] : Type::kNone;
}

bool is_unlisted_special(std::string_view name) {
    for (const std::string_view prefix :
         {"cluster", "ncluster", "is_explicit_cluster", "reserved_smem_offset", "pm", "envreg"}) {
        if (name.starts_with(prefix)) return true;
    }
    return false;
}

Dotted find_dotted(std::string_view token) {
    static const auto& index = *new auto(make_dotted());
    const auto found = index.find(token);
    return found == index.end() ? Dotted{} : found->second;
}

std::string_view spelling(Opcode opcode) {
    return opcode < Opcode::kCount ? kOpcodes[size_t(opcode)] : std::string_view{};
}
MemoryOperand memory_operand(Opcode opcode) {
    return opcode < Opcode::kCount ? kMemoryOperands[size_t(opcode)] : MemoryOperand::k_none;
}
std::string_view spelling(Mod mod) {
    return mod < Mod::kCount ? kMods[size_t(mod)] : std::string_view{};
}
std::string_view spelling(Special special) {
    return special < Special::kCount ? kSpecials[size_t(special)] : std::string_view{};
}
std::string_view spelling(Type type) {
    for (const NamedType& entry : kTypes) {
        if (entry.type == type) return entry.name;
    }
    return {};
}

}  // namespace ptx
