// SPDX-License-Identifier: MIT
// Leads a copy of NVIDIA's runtime that is linked into a library (-cudart static, nvcc's default)
// to the emulator's: the first instruction of each of its API functions becomes a jump. The
// functions are known by the library's symbol table, so a library without one is left as it is.
#pragma once

#include <cstdint>

namespace emulator {

// A library of the emulator has been mapped at `base`: libcudart is remembered.
void note_own_library(const char* path, uint64_t base);

// Must run before the library's constructors, which register its kernels.
void redirect_static_runtime(const char* path, uint64_t base);

// Writes a text into the exported array of this name, which must be large enough: PATH_MAX.
void write_text_variable(const char* path, uint64_t base, const char* name, const char* text);

}  // namespace emulator
