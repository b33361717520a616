// SPDX-License-Identifier: MIT
// Small functions that do not belong to another group.
#include "runtime/core/api.h"
#include "runtime/core/driver_hook.h"

using namespace runtime;

EMULATOR_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                         cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

namespace {

DriverEntryPoints driver_entry_points = nullptr;  // null: no driver API is linked in

cudaError_t entry_point(const char* name, const char* symbol, void** function, unsigned version,
                        unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
    return api(name, [&](Call& call) -> cudaError_t {
        if (!symbol || !function || flags > cudaEnablePerThreadDefaultStream)
            return cudaErrorInvalidValue;
        bool per_thread = call.thread.per_thread_default;
        if (flags & cudaEnableLegacyStream) per_thread = false;
        if (flags & cudaEnablePerThreadDefaultStream) per_thread = true;
        *function =
            driver_entry_points ? driver_entry_points(symbol, version, per_thread) : nullptr;
        if (status)
            *status = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
        return *function || status ? cudaSuccess : cudaErrorSymbolNotFound;
    });
}

}  // namespace

void runtime::set_driver_entry_points(DriverEntryPoints entry_points) {
    driver_entry_points = entry_points;
}

EMULATOR_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                 unsigned long long flags,
                                                 cudaDriverEntryPointQueryResult* status) {
    return entry_point("cudaGetDriverEntryPoint", symbol, function, CUDART_VERSION, flags, status);
}
EMULATOR_API cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                          unsigned version,
                                                          unsigned long long flags,
                                                          cudaDriverEntryPointQueryResult* status) {
    return entry_point(
        "cudaGetDriverEntryPointByVersion", symbol, function, version, flags, status);
}

EMULATOR_API cudaError_t cudaCtxResetPersistingL2Cache() {
    return api("cudaCtxResetPersistingL2Cache", [](Call&) { return cudaSuccess; });
}
EMULATOR_API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                                            cudaFlushGPUDirectRDMAWritesScope) {
    return api("cudaDeviceFlushGPUDirectRDMAWrites", [](Call&) { return cudaSuccess; });
}
