// SPDX-License-Identifier: MIT
// select_arithmetic: converts an instruction to plain data and queries the table that was compiled
// for this processor.
#include <algorithm>
#include <bit>

#include "machine/lanes/arith_core.h"
#include "machine/lanes/levels.h"

namespace machine {
namespace {

using OperandKind = ptx::Operand::Kind;

// Bytes of a register operand's row; 0 for a predicate and for other operands.
unsigned register_bytes(const ptx::Operand& operand, const ptx::Function& function) {
    if (operand.kind != OperandKind::kRegister || operand.index >= function.registers.size())
        return 0;
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
    form.pair = dst.kind == OperandKind::kPair;
    if (dst.kind != OperandKind::kRegister && dst.kind != OperandKind::kPair &&
        dst.kind != OperandKind::kSink)
        return false;
    form.dst_bytes = register_bytes(dst, function);
    form.source_count = unsigned(operands.size() - 1);
    for (unsigned k = 0; k < form.source_count; ++k) {
        const ptx::Operand& operand = operands[k + 1];
        switch (operand.kind) {
        case OperandKind::kRegister:
            form.src_bytes[k] = register_bytes(operand, function);
            break;
        case OperandKind::kImmediate:
            form.immediate[k] = true;
            form.immediate_bits[k] = operand.bits;
            break;
        case OperandKind::kSymbol:
            break;  // an address: a constant of the decoder's
        default:
            return false;
        }
    }
    return true;
}

}  // namespace

std::optional<Selected> select_arithmetic_for(ProcessorLevel level,
                                              const ptx::Instruction& instruction,
                                              const ptx::Function& function) {
    Form form;
    Selected selected;
    if (!read_form(instruction, function, form)) return std::nullopt;
    const bool found = level_tables(level).select_form(form, selected);
    // lop3's table is the only operand that is not a source.
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
