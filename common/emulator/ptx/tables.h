// SPDX-License-Identifier: MIT
// Maps spellings to enumerators and back: opcodes, and the dotted tokens of instructions.
#pragma once

#include <optional>
#include <string_view>

#include "ptx/module.h"

namespace ptx {

// kUnknown when the table does not have the mnemonic (without modifiers).
Opcode find_opcode(std::string_view mnemonic);
std::string_view spelling(Opcode opcode);
// Whether an instruction accesses memory, as the last column of instructions.def says.
enum class MemoryOperand : uint8_t {
    k_none,
    k_generic,  // its address is generic if no state space is written
    k_address,  // likewise, and a variable is an address without brackets around it
};
MemoryOperand memory_operand(Opcode opcode);
std::string_view spelling(Mod mod);
std::string_view spelling(Type type);  // "u32"; empty for kNone

// `name` without the percent sign: "tid.x".
std::optional<Special> find_special(std::string_view name);
std::string_view spelling(Special special);
Type type_of(Special special);
// True for documented special registers that Special does not list (clusters, for instance).
bool is_unlisted_special(std::string_view name);

// The meaning of one dotted token of an instruction or a declaration, without its dot.
struct Dotted {
    enum class Kind : uint8_t { kUnknown, kType, kSpace, kVector, kMod };
    Kind kind = Kind::kUnknown;
    Type type = Type::kNone;
    Space space = Space::kNone;
    uint8_t vector = 1;
    Mod mod{};
};
Dotted find_dotted(std::string_view token);

}  // namespace ptx
