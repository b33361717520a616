// SPDX-License-Identifier: MIT
// Checks a launch against the device's limits as the hardware does, packs its arguments, runs it,
// and stores the error that later calls return.
#pragma once

#include "runtime/core/registry.h"
#include "runtime/core/stream.h"

namespace runtime {

struct Launch {
    KernelRecord* kernel = nullptr;
    dim3 grid, block;
    size_t shared = 0;  // dynamic, in bytes
    bool cooperative = false;
    machine::HostSite site = 0;
    std::vector<std::byte> arguments;  // laid out by the kernel's .param list
    // Of captured launches, for queries: the kernel as the program named it, and where each
    // argument lies in `arguments`.
    const void* function = nullptr;
    std::vector<size_t> offsets = {};
};

// Packs `args` (one pointer per parameter) by the kernel's parameter list.
std::vector<std::byte> pack_arguments(const machine::Kernel& kernel, void** args);

// Checks limits; on failure fires ApiEvent kInvalidLaunch and returns the documented error.
cudaError_t check_launch(Call& call, const Launch& launch, machine::Kernel& kernel);
// Checks and runs. Returns cudaSuccess for a kernel that fails while it runs: later calls return
// its error.
cudaError_t run_launch(Call& call, Launch& launch, Stream& stream);
// Implements a launch API function.
cudaError_t launch_api(Call& call, const void* function, dim3 grid, dim3 block, void** args,
                       size_t shared, cudaStream_t stream, bool cooperative);

// An API function that runs body(call, record, kernel) for the kernel that `function` refers to, on
// the current device.
template <class F>
cudaError_t with_kernel(const char* name, const void* function, F&& body) {
    return api(name, [&](Call& call) -> cudaError_t {
        KernelRecord* record = find_kernel(function);
        if (!record) return cudaErrorInvalidDeviceFunction;
        machine::Kernel* kernel = nullptr;
        try {
            if (const cudaError_t error = resolve_kernel(call, *record, call.thread.device, kernel))
                return error;
            return body(call, *record, *kernel);
        } catch (const machine::UnsupportedPtx& problem) {
            warn_once("cannot run kernel `" + record->name + "`: " + problem.what());
            return cudaErrorNotSupported;
        } catch (const ptx::ParseError& problem) {
            warn_once("cannot read kernel `" + record->name + "`: " + problem.what());
            return cudaErrorInvalidPtx;
        }
    });
}

// Dynamic shared memory that a launch of `record` may ask for on `device`.
uint32_t dynamic_shared_limit(const KernelRecord& record, int device, const machine::Limits& limits,
                              uint32_t static_bytes);
// The number of blocks of this shape that one multiprocessor holds; 0 if not even one fits.
uint32_t resident_blocks(const machine::Limits& limits, machine::Kernel& kernel, uint64_t threads,
                         uint64_t dynamic_shared);

}  // namespace runtime
