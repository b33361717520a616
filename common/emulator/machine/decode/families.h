// SPDX-License-Identifier: MIT
// One function for each decoder that ptx/instructions.def names. It emits the decoded instruction
// and returns true, or returns false for a form that it does not know.
#pragma once

#include "machine/decode/emitter.h"
#include "machine/decode/operands.h"
#include "machine/decode/row_layout.h"
#include "machine/lanes/levels.h"
#include "machine/program/control_flow.h"
#include "machine/program/module_image.h"

namespace machine {

// The function being decoded.
struct Decoding {
    using In = const ptx::Instruction&;
    using Op = const ptx::Operand&;

    ModuleImage& module;
    const ptx::Function& function;
    Code& code;
    RowLayout& rows;
    Emitter& emitter;
    Operands& operands;
    // PTX instruction where the lanes of the branch being decoded reconverge.
    uint32_t reconvergence = kNoInstruction;
    bool calls_device_runtime = false;  // the function would launch kernels, for example
};

// decode_<decoder> for each decoder in ptx/instructions.def.
#define PTX_OPCODE(name, decoder, ...) bool decode_##decoder(Decoding& d, Decoding::In in);
#include "ptx/instructions.def"

// What some of them have in common.
bool decode_rows(Decoding& d, Decoding::In in);            // by select_arithmetic
bool decode_lane_operation(Decoding& d, Decoding::In in);  // too rare for handlers of their own
bool decode_wide_access(Decoding& d, Decoding::In in);     // of 32 bytes
bool decode_vector_atomic(Decoding& d, Decoding::In in);
bool decode_warp_barrier(Decoding& d, Decoding::In in);

// The modifiers that memory instructions share.
Scope scope_of(const ptx::Instruction& in);
MemoryOrder order_of(const ptx::Instruction& in);

}  // namespace machine
