// SPDX-License-Identifier: MIT
// Small functions that belong to no other group.
#include "runtime/api.h"

using namespace runtime;

EMULATOR_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                         cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

namespace {

// There is no driver below this runtime, so it has no functions to give out.
cudaError_t no_entry_point(const char* symbol, void** function,
                           cudaDriverEntryPointQueryResult* status) {
    return api("cudaGetDriverEntryPoint", [&](Call&) -> cudaError_t {
        if (!symbol || !function) return cudaErrorInvalidValue;
        *function = nullptr;
        if (!status) return cudaErrorSymbolNotFound;
        *status = cudaDriverEntryPointSymbolNotFound;
        return cudaSuccess;
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                 unsigned long long,
                                                 cudaDriverEntryPointQueryResult* status) {
    return no_entry_point(symbol, function, status);
}
EMULATOR_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                                      unsigned long long,
                                                      cudaDriverEntryPointQueryResult* status) {
    return no_entry_point(symbol, function, status);
}
EMULATOR_API cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                          unsigned, unsigned long long,
                                                          cudaDriverEntryPointQueryResult* status) {
    return no_entry_point(symbol, function, status);
}
EMULATOR_API cudaError_t
cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function, unsigned,
                                      unsigned long long, cudaDriverEntryPointQueryResult* status) {
    return no_entry_point(symbol, function, status);
}

EMULATOR_API cudaError_t cudaCtxResetPersistingL2Cache() {
    return api("cudaCtxResetPersistingL2Cache", [](Call&) { return cudaSuccess; });
}
EMULATOR_API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                                            cudaFlushGPUDirectRDMAWritesScope) {
    return api("cudaDeviceFlushGPUDirectRDMAWrites", [](Call&) { return cudaSuccess; });
}
