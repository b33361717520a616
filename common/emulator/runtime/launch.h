// SPDX-License-Identifier: MIT
// Checks a launch against the device's limits as the hardware does, packs its arguments, runs it,
// and turns how it ended into the error that later calls will report.
#pragma once

#include "runtime/registry.h"
#include "runtime/stream.h"

namespace runtime {

struct Launch {
    KernelRecord* kernel = nullptr;
    dim3 grid, block;
    size_t shared = 0;  // dynamic, in bytes
    bool cooperative = false;
    machine::HostSite site = 0;
    std::vector<std::byte> arguments;  // laid out by the kernel's .param list
};

// Lays out `args` (one pointer per parameter) as the kernel's parameter list says.
std::vector<std::byte> pack_arguments(const machine::Kernel& kernel, void** args);

// Checks limits; on failure fires ApiEvent kInvalidLaunch and returns the documented error.
cudaError_t check_launch(Call& call, const Launch& launch, machine::Kernel& kernel);
// Checks and runs. A kernel that fails while running returns cudaSuccess here: its error is
// pending.
cudaError_t run_launch(Call& call, Launch& launch, Stream& stream);
// The whole of a launch API function.
cudaError_t launch_api(Call& call, const void* function, dim3 grid, dim3 block, void** args,
                       size_t shared, cudaStream_t stream, bool per_thread, bool cooperative);

// Dynamic shared memory that a launch of `record` may ask for on `device`.
uint32_t dynamic_shared_limit(const KernelRecord& record, int device, const machine::Limits& limits,
                              uint32_t static_bytes);
// Blocks of this shape that one multiprocessor holds at a time; 0 when not even one fits.
uint32_t resident_blocks(const machine::Limits& limits, machine::Kernel& kernel, uint64_t threads,
                         uint64_t dynamic_shared);

}  // namespace runtime
