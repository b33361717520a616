// SPDX-License-Identifier: MIT
// Freeing memory, with a finding for a pointer that must not be freed.
#pragma once

#include "runtime/core/api.h"

namespace runtime {

// A function that frees memory.
struct FreeFunction {
    bool (*frees)(const machine::Allocation&);
    const char* verb;   // "frees", "closes"
    const char* takes;  // what it frees: "memory of cudaMalloc"
};
cudaError_t free_memory(Call& call, void* pointer, const FreeFunction& function);

}  // namespace runtime
