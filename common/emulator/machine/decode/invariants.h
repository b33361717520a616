// SPDX-License-Identifier: MIT
// Instructions whose result is the same for every thread of a launch (parameters, sizes of grid and
// block, addresses of variables, arithmetic on these): executed once for each activation's rows and
// launch instead of once for each warp. Counters see them as before.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "ptx/module.h"

namespace machine {

class LaunchInvariants {
public:
    // The state space of the variable that a symbol operand names.
    using SpaceOf = std::function<ptx::Space(const ptx::Operand&)>;
    LaunchInvariants(const ptx::Function& function, SpaceOf space_of);

    // Whether the instruction is invariant. If so, the registers that it writes are from now on:
    // call it once for each instruction, in the order of the body.
    bool note(const ptx::Instruction& in);

private:
    bool is_invariant(const ptx::Instruction& in) const;

    const ptx::Function& function_;
    SpaceOf space_of_;
    std::vector<uint32_t> definitions_;  // by register: instructions that may write it
    std::vector<bool> invariant_;        // by register
};

}  // namespace machine
