// SPDX-License-Identifier: MIT
// Occupancy queries: how many blocks of a kernel fit on one multiprocessor, by the formula that
// also checks cooperative launches (resident_blocks).
#include <algorithm>

#include "runtime/core/launch.h"

using namespace runtime;

namespace {

// Runs body(record, kernel, limits, device) for the kernel that `function` refers to.
template <class F>
cudaError_t with_limits(const char* name, const void* function, F&& body) {
    return with_kernel(
        name,
        function,
        [&](Call& call, KernelRecord& record, machine::Kernel& kernel) -> cudaError_t {
            const int device = call.thread.device;
            return body(record, kernel, call.global.machine(device).limits(), device);
        });
}

cudaError_t active_blocks(const char* name, int* blocks, const void* function, int block_size,
                          size_t shared) {
    return with_limits(
        name,
        function,
        [&](KernelRecord& record,
            machine::Kernel& kernel,
            const machine::Limits& limits,
            int device) {
            if (!blocks || block_size <= 0) return cudaErrorInvalidValue;
            *blocks = 0;
            if (shared <=
                dynamic_shared_limit(record, device, limits, kernel.static_shared_bytes()))
                *blocks = int(resident_blocks(limits, kernel, uint64_t(block_size), shared));
            return cudaSuccess;
        });
}

}  // namespace

EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                       const void* function,
                                                                       int block_size,
                                                                       size_t shared) {
    return active_blocks(
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, block_size, shared);
}

EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, size_t shared, unsigned flags) {
    if (flags & ~unsigned(cudaOccupancyDisableCachingOverride))
        return api("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                   [](Call&) { return cudaErrorInvalidValue; });
    return active_blocks("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                         blocks,
                         function,
                         block_size,
                         shared);
}

// The most dynamic shared memory that each of `blocks` resident blocks can have.
EMULATOR_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                                   const void* function, int blocks,
                                                                   int block_size) {
    return with_limits(
        "cudaOccupancyAvailableDynamicSMemPerBlock",
        function,
        [&](KernelRecord& record,
            machine::Kernel& kernel,
            const machine::Limits& limits,
            int device) {
            if (!bytes || blocks <= 0 || block_size <= 0) return cudaErrorInvalidValue;
            if (resident_blocks(limits, kernel, uint64_t(block_size), 0) < uint32_t(blocks))
                return cudaErrorInvalidValue;
            const uint32_t fixed = kernel.static_shared_bytes();
            const uint64_t share =
                uint64_t(limits.shared_per_multiprocessor) / uint64_t(blocks) / 256 * 256;
            const uint64_t most = dynamic_shared_limit(record, device, limits, fixed);
            *bytes = size_t(std::min(most, share - std::min<uint64_t>(share, fixed)));
            return cudaSuccess;
        });
}

// Clusters need compute capability 9.0.
EMULATOR_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void*,
                                                              const cudaLaunchConfig_t*) {
    return api("cudaOccupancyMaxPotentialClusterSize", [&](Call&) {
        if (!size) return cudaErrorInvalidValue;
        *size = 0;
        return cudaErrorNotSupported;
    });
}
EMULATOR_API cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void*,
                                                        const cudaLaunchConfig_t*) {
    return api("cudaOccupancyMaxActiveClusters", [&](Call&) {
        if (!count) return cudaErrorInvalidValue;
        *count = 0;
        return cudaErrorNotSupported;
    });
}
