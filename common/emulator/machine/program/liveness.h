// SPDX-License-Identifier: MIT
// Which registers of a function may still be read at the start of every basic block: the classic
// backward data-flow analysis (Aho, Lam, Sethi, Ullman, "Compilers", section 9.2.5). A register
// that is live at the function's start may be read before it is written.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace machine {

class Liveness {
public:
    explicit Liveness(const ptx::Function& function);
    // Whether a basic block starts at this instruction.
    bool starts_block(uint32_t instruction) const { return row_[instruction] != kNone; }
    // Whether `register_index` may be read from here on before it is written. Only at the start of
    // a block.
    bool live(uint32_t instruction, uint32_t register_index) const {
        return sets_[size_t(row_[instruction]) * words_ + register_index / 64] >>
                   (register_index % 64) &
               1;
    }
    // The greatest number of 32-bit words that are live at one place; predicates are not counted.
    uint32_t most_words(const ptx::Function& function) const;
    // Registers that may be read before they are written.
    const std::vector<uint32_t>& at_entry() const { return at_entry_; }

private:
    static constexpr uint32_t kNone = 0xffffffffu;
    size_t words_ = 0;
    std::vector<uint32_t> row_;  // by instruction: the block's number, or kNone
    std::vector<uint64_t> sets_;
    std::vector<uint32_t> at_entry_;
};

// Calls visit(register index) for each register that the instruction writes.
template <class F>
void for_written(const ptx::Instruction& in, F&& visit) {
    using Kind = ptx::Operand::Kind;
    using ptx::Opcode;
    if (in.operands.empty()) return;
    const bool waits = in.opcode == Opcode::k_bar || in.opcode == Opcode::k_barrier;
    if (in.opcode == Opcode::k_nanosleep || in.opcode == Opcode::k_stackrestore ||
        (waits && !in.has(ptx::Mod::k_red)))
        return;
    // Pairs may hold vectors: {%f1, %f2, %f3, %f4}|%p of a texture.
    const auto write = [&](const ptx::Operand& to, auto&& again) -> void {
        if (to.kind == Kind::kRegister) visit(to.index);
        if (to.kind == Kind::kVector || to.kind == Kind::kPair)
            for (const ptx::Operand& element : to.elements) again(element, again);
    };
    write(in.operands[0], write);
}

// Calls visit(register index) for each register that the instruction reads, including the guard.
template <class F>
void for_read(const ptx::Instruction& in, F&& visit) {
    using Kind = ptx::Operand::Kind;
    bool writes = false;
    for_written(in, [&](uint32_t) { writes = true; });
    if (in.guarded) visit(in.guard);
    const auto look = [&](const ptx::Operand& operand, auto&& again) -> void {
        if (operand.kind == Kind::kRegister) visit(operand.index);
        for (const ptx::Operand& element : operand.elements) again(element, again);
    };
    for (size_t i = 0; i < in.operands.size(); ++i) {
        const Kind kind = in.operands[i].kind;
        const bool result = i == 0 && writes && kind != Kind::kAddress;
        if (!result) look(in.operands[i], look);
    }
}

}  // namespace machine
