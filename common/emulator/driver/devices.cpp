// SPDX-License-Identifier: MIT
// Device enumeration and queries, with the answers of the runtime API.
#include <cstring>

#include "driver/frame.h"

using namespace driver;

namespace {

template <class F>
CUresult ask(const char* name, F&& body) {
    return run(name, Needs::kInit, static_cast<F&&>(body));
}

CUresult uuid(CUuuid* result, CUdevice device) {
    return ask("cuDeviceGetUuid", [&]() -> CUresult {
        cudaDeviceProp properties;
        if (!result) return CUDA_ERROR_INVALID_VALUE;
        if (const cudaError_t error = cudaGetDeviceProperties(&properties, device))
            return result_of(error);
        std::memcpy(result->bytes, properties.uuid.bytes, sizeof result->bytes);
        return CUDA_SUCCESS;
    });
}

}  // namespace

DRIVER_API CUresult cuDeviceGetCount(int* count) {
    return ask("cuDeviceGetCount", [&] { return cudaGetDeviceCount(count); });
}
DRIVER_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return ask("cuDeviceGet", [&] {
        if (!device) return CUDA_ERROR_INVALID_VALUE;
        if (!valid_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
        *device = ordinal;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuDeviceGetName(char* text, int length, CUdevice device) {
    return ask("cuDeviceGetName", [&]() -> CUresult {
        cudaDeviceProp properties;
        if (!text || length <= 0) return CUDA_ERROR_INVALID_VALUE;
        if (const cudaError_t error = cudaGetDeviceProperties(&properties, device))
            return result_of(error);
        std::strncpy(text, properties.name, size_t(length));
        text[length - 1] = 0;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuDeviceGetUuid(CUuuid* result, CUdevice device) {
    return uuid(result, device);
}
DRIVER_API CUresult cuDeviceGetUuid_v2(CUuuid* result, CUdevice device) {
    return uuid(result, device);
}
DRIVER_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
    return ask("cuDeviceTotalMem", [&]() -> CUresult {
        if (!bytes) return CUDA_ERROR_INVALID_VALUE;
        if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
        *bytes = runtime::context().memory.capacity();
        return CUDA_SUCCESS;
    });
}
// The attributes have the same values in both APIs.
DRIVER_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                         CUdevice device) {
    return ask("cuDeviceGetAttribute", [&]() -> CUresult {
        switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
            if (!value) return CUDA_ERROR_INVALID_VALUE;
            if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
            *value = 0;
            return CUDA_SUCCESS;
        default:
            return result_of(cudaDeviceGetAttribute(value, cudaDeviceAttr(attribute), device));
        }
    });
}
DRIVER_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
    return ask("cuDeviceComputeCapability", [&]() -> CUresult {
        if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
        if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
        const std::lock_guard lock(runtime::context().mutex);
        const unsigned arch = runtime::context().arch();
        *major = int(arch / 10);
        *minor = int(arch % 10);
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuDeviceGetProperties(CUdevprop* result, CUdevice device) {
    return ask("cuDeviceGetProperties", [&]() -> CUresult {
        cudaDeviceProp p;
        if (!result) return CUDA_ERROR_INVALID_VALUE;
        if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return result_of(error);
        *result = {};
        result->maxThreadsPerBlock = p.maxThreadsPerBlock;
        for (int i = 0; i < 3; ++i) {
            result->maxThreadsDim[i] = p.maxThreadsDim[i];
            result->maxGridSize[i] = p.maxGridSize[i];
        }
        result->sharedMemPerBlock = int(p.sharedMemPerBlock);
        result->totalConstantMemory = int(p.totalConstMem);
        result->SIMDWidth = p.warpSize;
        result->memPitch = int(p.memPitch);
        result->regsPerBlock = p.regsPerBlock;
        result->clockRate = 1'000'000;
        result->textureAlign = int(p.textureAlignment);
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
    return ask("cuDeviceGetPCIBusId", [&] { return cudaDeviceGetPCIBusId(text, length, device); });
}
DRIVER_API CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
    return ask("cuDeviceGetByPCIBusId", [&] { return cudaDeviceGetByPCIBusId(device, text); });
}
DRIVER_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    return ask("cuDeviceCanAccessPeer", [&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}
DRIVER_API CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute,
                                            CUdevice from, CUdevice to) {
    return ask("cuDeviceGetP2PAttribute", [&] {
        return cudaDeviceGetP2PAttribute(value, cudaDeviceP2PAttr(attribute), from, to);
    });
}
DRIVER_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
    return ask("cuDeviceGetDefaultMemPool",
               [&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
DRIVER_API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
    return ask("cuDeviceGetMemPool", [&] { return cudaDeviceGetMemPool(pool, device); });
}
DRIVER_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    return ask("cuDeviceSetMemPool", [&] { return cudaDeviceSetMemPool(device, pool); });
}
DRIVER_API CUresult cuDeviceGetExecAffinitySupport(int* value, CUexecAffinityType, CUdevice) {
    return ask("cuDeviceGetExecAffinitySupport", [&] {
        if (!value) return CUDA_ERROR_INVALID_VALUE;
        *value = 0;
        return CUDA_SUCCESS;
    });
}
