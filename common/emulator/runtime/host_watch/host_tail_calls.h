// SPDX-License-Identifier: MIT
// Optimising compilers turn a call at the end of a function into a jump, which removes the function
// from the stack: `void run() { kernel<<<1, 32>>>(p); }` has no frame while the kernel is launched.
// DWARF 5 lists such jumps, and the missing levels are restored from it, as in debuggers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace runtime {

// The jumps that led from the call at `caller` (the address of the call's last byte) to the
// function `callee` (mangled, or its plain name in C), innermost first. Empty if the call went to
// `callee` directly, or if the debug information does not contain it.
std::vector<uint64_t> tail_calls(uint64_t caller, const std::string& callee);

// The mangled name, or the plain one, of the function that `pc` was compiled into; inlined
// functions are ignored. Empty when unknown.
std::string compiled_function(uint64_t pc);

}  // namespace runtime
