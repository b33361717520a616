// SPDX-License-Identifier: MIT
// From the operands of PTX instructions to rows and addresses.
#pragma once

#include <vector>

#include "machine/decode/emitter.h"
#include "machine/decode/row_layout.h"
#include "machine/program/module_image.h"

namespace machine {

class Operands {
public:
    using Op = const ptx::Operand&;

    Operands(ModuleImage& module, const ptx::Function& function, Code& code, RowLayout& rows,
             Emitter& emitter);

    bool is_predicate(Op operand) const;
    uint32_t register_bytes(Op operand) const { return rows_.register_bytes(operand.index); }
    uint32_t register_row(Op operand) const { return rows_.of_register(operand.index); }
    // Whether a register is as wide as `type`, and a predicate where that is one. Handlers step
    // through rows by their own type: a row of another width would lead them out of it.
    bool fits(Op operand, ptx::Type type) const;

    // The row of a source, read as `type`; emits a complement for !%p. kNoRow where it does not
    // fit.
    uint32_t source(Op operand, ptx::Type type);
    // The row for a result of that type. kNoRow where it does not fit.
    uint32_t destination(Op operand, ptx::Type type);
    // The row of a number, converted to `type`.
    uint32_t immediate(Op operand, ptx::Type type);

    ptx::Space symbol_space(Op operand) const;
    uint64_t symbol(Op operand);  // address in its own space
    // The address of the shared memory that an sm_80 device reserves for the toolkit in each block.
    uint64_t reserved_shared();

    // Fills in where `op` accesses memory, from an address operand. False: an unknown form.
    bool address(const ptx::Instruction& in, Op operand, MemoryOp& op);
    // Where a call's argument or result is.
    CallOp::Slot slot(Op operand, uint32_t bytes);

private:
    ModuleImage& module_;
    const ptx::Function& function_;
    Code& code_;
    RowLayout& rows_;
    Emitter& emitter_;
    std::vector<LocalObject> objects_;  // by register
};

// Part of a register, or its negative: only the video instructions have such operands.
bool is_partial(const ptx::Function& function, const ptx::Operand& operand);
// Whether an element of a vector, list or address is: no instruction has these.
bool has_partial_elements(const ptx::Function& function, const ptx::Operand& operand);

constexpr uint32_t kReservedSharedBytes = 1024;

}  // namespace machine
