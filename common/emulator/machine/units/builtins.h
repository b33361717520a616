// SPDX-License-Identifier: MIT
// The functions that every device program may call without defining them (CUDA C++ Programming
// Guide, "Formatted Output", "Dynamic Global Memory Allocation"; the device runtime supplies them).
#pragma once

#include <string_view>

#include "machine/state/launch_state.h"

namespace machine {

using Builtin = void (*)(LaunchState&, const Instr&, const CallOp&);
// Null if `name` is not one of them.
Builtin find_builtin(std::string_view name);

}  // namespace machine
