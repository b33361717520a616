// SPDX-License-Identifier: MIT
// Optimising compilers turn a call that ends a function into a jump, so that the function is gone
// from the stack: `void run() { kernel<<<1, 32>>>(p); }` has no frame while the kernel is launched.
// DWARF 5 lists such jumps, and from those the missing levels can be told, as debuggers do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace runtime {

// The jumps that led from the call at `caller` (the address of the call's last byte) to the
// function `callee` (mangled, or its plain name in C), innermost first. Empty when the call went
// to `callee` directly, or the debug information does not tell.
std::vector<uint64_t> tail_calls(uint64_t caller, const std::string& callee);

// The mangled name, or the plain one, of the function that `pc` was compiled into; inlined
// functions do not count. Empty when unknown.
std::string compiled_function(uint64_t pc);

}  // namespace runtime
