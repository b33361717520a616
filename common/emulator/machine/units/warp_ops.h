// SPDX-License-Identifier: MIT
// Operations of the lanes of a warp together: shuffles, votes, matches, reductions, __syncwarp, and
// matrix instructions.
#pragma once

#include <span>

#include "machine/state/launch_state.h"

namespace machine {

// The lanes of one part of a warp that have met others at `instr`.
struct WarpParty {
    Frame* frame;
    const Instr* instr;
    uint32_t mask;
};

// Executes the operation at which `parties` of the current warp have met. `named`: the union of
// their mask operands. `missing_waiting`: named lanes that wait elsewhere.
void run_warp_op(LaunchState& state, std::span<const WarpParty> parties, uint32_t named,
                 uint32_t missing_waiting);

}  // namespace machine
