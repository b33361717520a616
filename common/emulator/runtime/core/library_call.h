// SPDX-License-Identifier: MIT
// Kernels of NVIDIA's libraries, computed on the host by the stand-ins in libraries/. Every access
// to memory is checked and reported as a kernel's would be.
#pragma once

#include "runtime/core/library_kernel.h"
#include "runtime/core/stream.h"

namespace runtime {

// Where an operand lies.
struct Place {
    machine::Allocation* allocation = nullptr;
    std::byte* host = nullptr;
};

// Whether the operand is in live device memory; else there is a finding.
cudaError_t check_library_operand(Call& call, const char* api, machine::HostSite site,
                                  const emulator::Operand& operand, Place& place);
// Reports what the running kernel of a library reads, then what it writes. `at`: where each operand
// begins.
void report_library_accesses(Call& call, const char* api, machine::HostSite site,
                             const Stream& stream, const std::vector<emulator::Operand>& operands,
                             const std::vector<Place>& places, const std::vector<std::byte*>& at);

// Implements emulator::run_kernel() for the running call.
cudaError_t library_kernel(Call& call, const emulator::LibraryKernel& kernel);

}  // namespace runtime
