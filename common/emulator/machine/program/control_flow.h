// SPDX-License-Identifier: MIT
// Where diverged lanes of a function reconverge: the immediate post-dominator of each branch.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace machine {

constexpr uint32_t kNoInstruction = 0xffffffffu;

// For every instruction of `function` that may jump: the instruction at which all paths from it
// reconverge, or kNoInstruction if they only do so at the function's end. Indexed by instruction.
std::vector<uint32_t> reconvergence_points(const ptx::Function& function);

// The instructions that `instruction` may jump to; empty for everything but branches.
std::vector<uint32_t> jump_targets(const ptx::Function& function,
                                   const ptx::Instruction& instruction);

// Whether control never continues after this instruction (ret, exit, trap, unpredicated bra,
// noreturn call).
bool ends_flow(const ptx::Instruction& instruction);

}  // namespace machine
