// SPDX-License-Identifier: MIT
// The runtime API's cudaLibrary functions: those of the driver API, with the error stored for
// cudaGetLastError.
#include "driver/frame.h"

namespace {

// Most results have the same number in both APIs; the others have no corresponding runtime code.
template <class F>
cudaError_t library(const char* name, F&& body) {
    return runtime::api(name, [&](runtime::Call&) { return cudaError_t(body()); });
}

}  // namespace

DRIVER_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* result, const void* code,
                                           cudaJitOption* options, void** values, unsigned count,
                                           cudaLibraryOption*, void**, unsigned) {
    return library("cudaLibraryLoadData", [&] {
        return cuLibraryLoadData(result,
                                 code,
                                 reinterpret_cast<CUjit_option*>(options),
                                 values,
                                 count,
                                 nullptr,
                                 nullptr,
                                 0);
    });
}
DRIVER_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* result, const char* path,
                                               cudaJitOption*, void**, unsigned, cudaLibraryOption*,
                                               void**, unsigned) {
    return library("cudaLibraryLoadFromFile", [&] {
        return cuLibraryLoadFromFile(result, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
    });
}
DRIVER_API cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
    return library("cudaLibraryUnload", [&] { return cuLibraryUnload(handle); });
}
DRIVER_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle,
                                            const char* name) {
    return library("cudaLibraryGetKernel",
                   [&] { return cuLibraryGetKernel(kernel, handle, name); });
}
DRIVER_API cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
    return library("cudaLibraryGetKernelCount",
                   [&] { return cuLibraryGetKernelCount(count, handle); });
}
DRIVER_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* list, unsigned room,
                                                   cudaLibrary_t handle) {
    return library("cudaLibraryEnumerateKernels",
                   [&] { return cuLibraryEnumerateKernels(list, room, handle); });
}
DRIVER_API cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t handle,
                                            const char* name) {
    return library("cudaLibraryGetGlobal", [&] {
        return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(address), bytes, handle, name);
    });
}
DRIVER_API cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t handle,
                                             const char* name) {
    return library("cudaLibraryGetManaged", [&] {
        return cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(address), bytes, handle, name);
    });
}
