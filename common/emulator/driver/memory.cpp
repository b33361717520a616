// SPDX-License-Identifier: MIT
// Memory of all kinds, pools, fills, and pointer queries.
#include <cstring>

#include "driver/frame.h"
#include "runtime/core/copy.h"
#include "runtime/core/ipc.h"

using namespace driver;
using machine::Allocation;
using machine::MemoryKind;

namespace {

void** out(CUdeviceptr* address) {
    return reinterpret_cast<void**>(address);
}

cudaMemLocation location_of(CUmemLocation location) {
    return {cudaMemLocationType(location.type), location.id};
}
// CU_DEVICE_CPU denoted the host before locations were introduced.
cudaMemLocation location_of(CUdevice device) {
    if (device == CU_DEVICE_CPU) return {cudaMemLocationTypeHost, 0};
    return {cudaMemLocationTypeDevice, device};
}

// Fills `height` rows of `width` elements.
CUresult fill(const char* name, CUdeviceptr to, size_t pitch, uint32_t value, unsigned element,
              size_t width, size_t height, CUstream stream, bool wait) {
    return run(name, [&] {
        return runtime::api(
            name, wait ? runtime::kSynchronises : runtime::kPlain, [&](runtime::Call& call) {
                if (to % element || (height > 1 && pitch % element)) return cudaErrorInvalidValue;
                if (height > 1 && width * element > pitch) return cudaErrorInvalidValue;
                return runtime::fill(call,
                                     {to, pitch, 0},
                                     {width * element, height, 1},
                                     value,
                                     stream,
                                     wait,
                                     element);
            });
    });
}

// The value of one attribute; `data` is as wide as cuda.h specifies. Unknown pointers are no error
// where the documentation defines a result for them.
CUresult pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
    if (!data) return CUDA_ERROR_INVALID_VALUE;
    const auto give = [&](auto value) {
        std::memcpy(data, &value, sizeof value);
        return CUDA_SUCCESS;
    };
    runtime::Context& all = runtime::context();
    const std::lock_guard lock(all.mutex);
    const Allocation* found = all.memory.find(address);
    if (found && !(found->live && found->contains(address, 1))) found = nullptr;
    if (attribute == CU_POINTER_ATTRIBUTE_MAPPED) return give(int(found != nullptr));
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    const bool managed = found->kind == MemoryKind::kManaged;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return give(handle_of(all.devices[size_t(found->device)].primary));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return give(unsigned(found->host_visible() && !managed ? CU_MEMORYTYPE_HOST
                                                               : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return give(address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return found->host_visible() ? give(address) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return give(int(0));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return give(uint64_t(found->id) + 1);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return give(int(managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return give(int(found->device));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return give(found->address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return give(size_t(found->bytes));
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return give(unsigned(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return give(int(all.settings.ipc && runtime::is_exportable(*found)));
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return give(int(0));
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return give(uint64_t(0));
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

}  // namespace

DRIVER_API CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
    return run("cuMemAlloc", [&]() -> CUresult {
        if (!bytes) return CUDA_ERROR_INVALID_VALUE;
        return result_of(cudaMalloc(out(address), bytes));
    });
}
DRIVER_API CUresult cuMemFree_v2(CUdeviceptr address) {
    return run("cuMemFree", [&] { return cudaFree(pointer(address)); });
}
DRIVER_API CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width,
                                       size_t height, unsigned element) {
    return run("cuMemAllocPitch", [&]() -> CUresult {
        if (!width || !height || (element != 4 && element != 8 && element != 16))
            return CUDA_ERROR_INVALID_VALUE;
        return result_of(cudaMallocPitch(out(address), pitch, width, height));
    });
}
DRIVER_API CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
    return run("cuMemAllocManaged", [&] { return cudaMallocManaged(out(address), bytes, flags); });
}
DRIVER_API CUresult cuMemAllocHost_v2(void** host, size_t bytes) {
    return run("cuMemAllocHost", [&] { return cudaMallocHost(host, bytes); });
}
DRIVER_API CUresult cuMemHostAlloc(void** host, size_t bytes, unsigned flags) {
    return run("cuMemHostAlloc", [&] { return cudaHostAlloc(host, bytes, flags); });
}
DRIVER_API CUresult cuMemFreeHost(void* host) {
    return run("cuMemFreeHost", [&] { return cudaFreeHost(host); });
}
DRIVER_API CUresult cuMemHostRegister_v2(void* host, size_t bytes, unsigned flags) {
    return run("cuMemHostRegister", [&] { return cudaHostRegister(host, bytes, flags); });
}
DRIVER_API CUresult cuMemHostUnregister(void* host) {
    return run("cuMemHostUnregister", [&] { return cudaHostUnregister(host); });
}
DRIVER_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned flags) {
    return run("cuMemHostGetDevicePointer",
               [&] { return cudaHostGetDevicePointer(out(address), host, flags); });
}
DRIVER_API CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
    return run("cuMemHostGetFlags", [&] { return cudaHostGetFlags(flags, host); });
}
DRIVER_API CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
    return run("cuMemGetInfo", [&] { return cudaMemGetInfo(free_bytes, total); });
}
DRIVER_API CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
    return run("cuMemGetAddressRange", [&] {
        runtime::Context& all = runtime::context();
        const std::lock_guard lock(all.mutex);
        const Allocation* found = all.memory.find(address);
        if (!found || !found->live || !found->contains(address, 1)) return CUDA_ERROR_NOT_FOUND;
        if (base) *base = found->address;
        if (bytes) *bytes = found->bytes;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute,
                                          CUdeviceptr address) {
    return run("cuPointerGetAttribute",
               [&] { return pointer_attribute(data, attribute, address); });
}
// Attributes that the pointer does not have are set to zero; that is not an error here.
DRIVER_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                           void** data, CUdeviceptr address) {
    return run("cuPointerGetAttributes", [&] {
        if (!count || !attributes || !data) return CUDA_ERROR_INVALID_VALUE;
        for (unsigned i = 0; i < count; ++i) {
            if (!data[i]) return CUDA_ERROR_INVALID_VALUE;
            if (pointer_attribute(data[i], attributes[i], address) == CUDA_SUCCESS) continue;
            const bool narrow = attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                                attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
                                attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
            std::memset(data[i], 0, narrow ? 4 : 8);
            if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
                std::memset(data[i], 0xff, 4);  // CU_DEVICE_INVALID is -2, but "none" is -1
        }
        return CUDA_SUCCESS;
    });
}

// ---- managed memory --------------------------------------------------------------------------

DRIVER_API CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                CUdevice device) {
    return run("cuMemAdvise", [&] {
        return cudaMemAdvise(
            pointer(address), bytes, cudaMemoryAdvise(advice), location_of(device));
    });
}
DRIVER_API CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                   CUmemLocation location) {
    return run("cuMemAdvise", [&] {
        return cudaMemAdvise(
            pointer(address), bytes, cudaMemoryAdvise(advice), location_of(location));
    });
}
DRIVER_API CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device,
                                       CUstream stream) {
    return run("cuMemPrefetchAsync", [&] {
        return cudaMemPrefetchAsync(pointer(address), bytes, location_of(device), 0, stream);
    });
}
DRIVER_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                                          unsigned flags, CUstream stream) {
    return run("cuMemPrefetchAsync", [&] {
        return cudaMemPrefetchAsync(pointer(address), bytes, location_of(location), flags, stream);
    });
}

// ---- stream-ordered ----------------------------------------------------------------------------

DRIVER_API CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
    return run("cuMemAllocAsync", [&] { return cudaMallocAsync(out(address), bytes, stream); });
}
DRIVER_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                            CUstream stream) {
    return run("cuMemAllocFromPoolAsync",
               [&] { return cudaMallocFromPoolAsync(out(address), bytes, pool, stream); });
}
DRIVER_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    return run("cuMemFreeAsync", [&] { return cudaFreeAsync(pointer(address), stream); });
}
DRIVER_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
    return run("cuMemPoolCreate", [&] {
        return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties));
    });
}
DRIVER_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    return run("cuMemPoolDestroy", [&] { return cudaMemPoolDestroy(pool); });
}
DRIVER_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
    return run("cuMemPoolTrimTo", [&] { return cudaMemPoolTrimTo(pool, bytes); });
}
DRIVER_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                          void* value) {
    return run("cuMemPoolGetAttribute",
               [&] { return cudaMemPoolGetAttribute(pool, cudaMemPoolAttr(attribute), value); });
}
DRIVER_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                          void* value) {
    return run("cuMemPoolSetAttribute",
               [&] { return cudaMemPoolSetAttribute(pool, cudaMemPoolAttr(attribute), value); });
}
DRIVER_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list,
                                       size_t count) {
    return run("cuMemPoolSetAccess", [&] {
        return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(list), count);
    });
}
DRIVER_API CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool,
                                       CUmemLocation* location) {
    return run("cuMemPoolGetAccess", [&] {
        return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags),
                                    pool,
                                    reinterpret_cast<cudaMemLocation*>(location));
    });
}

// ---- fills -----------------------------------------------------------------------------------

#define FILL(bits, type)                                                                           \
    DRIVER_API CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count) {           \
        return fill("cuMemsetD" #bits, to, 0, value, bits / 8, count, 1, nullptr, true);           \
    }                                                                                              \
    DRIVER_API CUresult cuMemsetD##bits##Async(                                                    \
        CUdeviceptr to, type value, size_t count, CUstream stream) {                               \
        return fill("cuMemsetD" #bits "Async", to, 0, value, bits / 8, count, 1, stream, false);   \
    }                                                                                              \
    DRIVER_API CUresult cuMemsetD2D##bits##_v2(                                                    \
        CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) {                   \
        return fill(                                                                               \
            "cuMemsetD2D" #bits, to, pitch, value, bits / 8, width, height, nullptr, true);        \
    }                                                                                              \
    DRIVER_API CUresult cuMemsetD2D##bits##Async(                                                  \
        CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream) {  \
        return fill("cuMemsetD2D" #bits "Async",                                                   \
                    to,                                                                            \
                    pitch,                                                                         \
                    value,                                                                         \
                    bits / 8,                                                                      \
                    width,                                                                         \
                    height,                                                                        \
                    stream,                                                                        \
                    false);                                                                        \
    }
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
