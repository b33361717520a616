// SPDX-License-Identifier: MIT
// Which of a function's local variables an address points into. The compiler puts all of them into
// one `.local` depot; what is left of the single ones are the constants with which it makes their
// addresses, one `add.u64 %rd, %SPL, K` (or %SP, its generic form) each.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace machine {

// A range of the depot: a variable and the padding behind it. Variables that never live at the same
// time may share one range, which then has the size of the largest.
struct LocalObject {
    uint32_t begin = 0, end = 0;  // end 0: unknown
    bool known() const { return end != 0; }
};

// For each register of `function`: the variable that every value of it points into, or came from by
// adding to its address. Unknown for registers that may point into several, and everywhere when the
// function has none whose address it makes.
std::vector<LocalObject> local_objects(const ptx::Function& function);

}  // namespace machine
