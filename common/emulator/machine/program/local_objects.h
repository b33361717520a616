// SPDX-License-Identifier: MIT
// The local variable that an address points into. The compiler puts all local variables into one
// `.local` depot; the only trace of a single variable is the constant from which its address is
// computed, one `add.u64 %rd, %SPL, K` (or %SP, its generic form) each.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace machine {

// A range of the depot: a variable and the padding after it. Variables that are never live at the
// same time may share one range, which has the size of the largest.
struct LocalObject {
    uint32_t begin = 0, end = 0;  // end 0: unknown
    bool known() const { return end != 0; }
};

// For each register of `function`: the variable that all of its values point into, or were derived
// from by adding to its address. Unknown for registers that may point into several, and for all
// registers if the function has no variable whose address it computes.
std::vector<LocalObject> local_objects(const ptx::Function& function);

}  // namespace machine
