// SPDX-License-Identifier: MIT
// Kernels of NVIDIA's libraries, computed on the host by the stand-ins in libraries/. Every access
// to memory is checked and reported as a kernel's would be.
#pragma once

#include "runtime/core/library_kernel.h"
#include "runtime/core/stream.h"

namespace runtime {

// Implements emulator::run_kernel() for the running call.
cudaError_t library_kernel(Call& call, const emulator::LibraryKernel& kernel);

}  // namespace runtime
