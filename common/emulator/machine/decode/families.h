// SPDX-License-Identifier: MIT
// One function for each family of PTX instructions. It emits the decoded instruction and returns
// true, or returns false for a form that it does not know.
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
    const char* left_out = nullptr;     // the build option that an instruction needs
};

bool decode_arithmetic(Decoding& d, Decoding::In in);
bool decode_move(Decoding& d, Decoding::In in);
bool decode_address_conversion(Decoding& d, Decoding::In in);
bool decode_access(Decoding& d, Decoding::In in);       // ld and st
bool decode_wide_access(Decoding& d, Decoding::In in);  // of 32 bytes
bool decode_atomic(Decoding& d, Decoding::In in);
bool decode_vector_atomic(Decoding& d, Decoding::In in);
bool decode_fence(Decoding& d, Decoding::In in);
bool decode_stack(Decoding& d, Decoding::In in);  // alloca, stacksave, stackrestore
bool decode_async_copy(Decoding& d, Decoding::In in);
bool decode_mbarrier(Decoding& d, Decoding::In in);
bool decode_branch(Decoding& d, Decoding::In in);
bool decode_call(Decoding& d, Decoding::In in);
bool decode_barrier(Decoding& d, Decoding::In in);
bool decode_warp_operation(Decoding& d, Decoding::In in);
bool decode_matrix(Decoding& d, Decoding::In in);
bool decode_texture(Decoding& d, Decoding::In in);         // and surfaces
bool decode_miscellaneous(Decoding& d, Decoding::In in);   // exit, trap, activemask, isspacep ...
bool decode_lane_operation(Decoding& d, Decoding::In in);  // too rare for handlers of their own

// The modifiers that memory instructions share.
Scope scope_of(const ptx::Instruction& in);
MemoryOrder order_of(const ptx::Instruction& in);

}  // namespace machine
