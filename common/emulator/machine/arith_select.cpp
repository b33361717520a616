// SPDX-License-Identifier: MIT
// select_arithmetic: reads an instruction into plain data and asks the table that was compiled for
// this processor.
#include <algorithm>
#include <bit>

#include "machine/arith_core.h"

namespace machine {
// Built with ARITH_NS=newer for processors with AVX2, FMA and BMI2 (x86-64-v3), with
// ARITH_NS=newest for those with AVX-512 (x86-64-v4); see flags.cmake.
namespace newer {
bool select_form(const Form& form, Selected& out);
}
namespace newest {
bool select_form(const Form& form, Selected& out);
}

namespace {

using Kind = ptx::Operand::Kind;

// Bytes of a register operand's row; 0 for a predicate and for what is not a register.
unsigned register_bytes(const ptx::Operand& operand, const ptx::Function& function) {
    if (operand.kind != Kind::kRegister || operand.index >= function.registers.size()) return 0;
    const unsigned bytes = ptx::byte_size(function.registers[operand.index].type);
    return bytes == 1 ? 2 : bytes;
}

bool read_form(const ptx::Instruction& instruction, const ptx::Function& function, Form& form) {
    const auto& operands = instruction.operands;
    if (operands.empty() || operands.size() > 6 || instruction.types.size() > 3) return false;
    form.opcode = instruction.opcode;
    form.type_count = unsigned(instruction.types.size());
    for (unsigned k = 0; k < form.type_count; ++k) form.types[k] = instruction.types[k];
    using Words = std::array<uint64_t, Form::kWords>;
    const auto mods = std::bit_cast<Words>(instruction.mods);
    for (unsigned w = 0; w < Form::kWords; ++w) form.mods[w] = mods[w];

    const ptx::Operand& dst = operands[0];
    form.pair = dst.kind == Kind::kPair;
    if (dst.kind != Kind::kRegister && dst.kind != Kind::kPair && dst.kind != Kind::kSink)
        return false;
    form.dst_bytes = register_bytes(dst, function);
    form.source_count = unsigned(operands.size() - 1);
    for (unsigned k = 0; k < form.source_count; ++k) {
        const ptx::Operand& operand = operands[k + 1];
        switch (operand.kind) {
        case Kind::kRegister:
            form.src_bytes[k] = register_bytes(operand, function);
            break;
        case Kind::kImmediate:
            form.immediate[k] = true;
            form.immediate_bits[k] = operand.bits;
            break;
        case Kind::kSymbol:
            break;  // an address: the decoder's constant
        default:
            return false;
        }
    }
    return true;
}

}  // namespace

bool can_run(ArithmeticLevel level) {
    if (level == ArithmeticLevel::kPortable) return true;
#ifdef ARITH_HAS_NEWER
    static const bool newer = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    static const bool newest =
        newer && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl");
    return level == ArithmeticLevel::kNewer ? newer : newest;
#else
    return false;
#endif
}

static ArithmeticLevel& level_in_use() {
    static ArithmeticLevel level = can_run(ArithmeticLevel::kNewest)  ? ArithmeticLevel::kNewest
                                   : can_run(ArithmeticLevel::kNewer) ? ArithmeticLevel::kNewer
                                                                      : ArithmeticLevel::kPortable;
    return level;
}
ArithmeticLevel best_level() {
    return level_in_use();
}
void limit_level(ArithmeticLevel most) {
    level_in_use() = std::min(level_in_use(), most);
}

std::optional<Selected> select_arithmetic_for(ArithmeticLevel level,
                                              const ptx::Instruction& instruction,
                                              const ptx::Function& function) {
    Form form;
    Selected selected;
    if (!read_form(instruction, function, form)) return std::nullopt;
    bool found = false;
    if (level == ArithmeticLevel::kPortable) found = portable::select_form(form, selected);
#ifdef ARITH_HAS_NEWER
    else if (level == ArithmeticLevel::kNewer)
        found = newer::select_form(form, selected);
    else
        found = newest::select_form(form, selected);
#endif
    // lop3's table is the one operand that is not a source.
    const unsigned table = form.opcode == ptx::Opcode::k_lop3;
    if (!found || selected.sources + table != form.source_count) return std::nullopt;
    if (form.pair && !selected.has_dst2) return std::nullopt;
    return selected;
}

std::optional<Selected> select_arithmetic(const ptx::Instruction& instruction,
                                          const ptx::Function& function) {
    return select_arithmetic_for(best_level(), instruction, function);
}

}  // namespace machine
