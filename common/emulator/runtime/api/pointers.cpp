// SPDX-License-Identifier: MIT
// Queries about pointers, and advice about managed memory.
#include <cstring>

#include "runtime/core/copy.h"
#include "runtime/core/stream.h"

using namespace runtime;
using machine::Allocation;
using machine::MemoryKind;

EMULATOR_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                  const void* pointer) {
    return api("cudaPointerGetAttributes", [&](Call& call) -> cudaError_t {
        if (!attributes) return cudaErrorInvalidValue;
        *attributes = {};
        void* same = const_cast<void*>(pointer);
        const uint64_t address = reinterpret_cast<uint64_t>(pointer);
        const Allocation* found = call.global.memory.find(address);
        if (!found || !found->live || !found->contains(address, 1)) {
            if (call.global.memory.is_device_address(address)) return cudaErrorInvalidValue;
            attributes->type = cudaMemoryTypeUnregistered;
            attributes->device = cudaInvalidDeviceId;
            attributes->hostPointer = same;
            return cudaSuccess;
        }
        attributes->device = found->device;
        attributes->devicePointer = same;
        attributes->hostPointer = found->host_visible() ? same : nullptr;
        attributes->type = found->kind == MemoryKind::kManaged ? cudaMemoryTypeManaged
                           : found->host_visible()             ? cudaMemoryTypeHost
                                                               : cudaMemoryTypeDevice;
        return cudaSuccess;
    });
}

// The managed allocation that contains the whole range; null if there is none.
static Allocation* managed_range(Call& call, const void* pointer, size_t bytes) {
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    Allocation* found = call.global.memory.find(address);
    return found && found->live && found->kind == MemoryKind::kManaged &&
                   found->contains(address, bytes)
               ? found
               : nullptr;
}

static bool valid_location(Call& call, const cudaMemLocation& location) {
    switch (location.type) {
    case cudaMemLocationTypeDevice:
        return location.id >= 0 && location.id < call.global.device_count();
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
        return true;
    default:
        return false;
    }
}

EMULATOR_API cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                                       cudaMemLocation location) {
    return api("cudaMemAdvise", [&](Call& call) -> cudaError_t {
        if (!bytes || !managed_range(call, pointer, bytes)) return cudaErrorInvalidValue;
        if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
            return cudaErrorInvalidValue;
        const bool located = advice == cudaMemAdviseSetPreferredLocation ||
                             advice == cudaMemAdviseSetAccessedBy ||
                             advice == cudaMemAdviseUnsetAccessedBy;
        if (located && !valid_location(call, location)) return cudaErrorInvalidValue;
        Advice& known = call.global.advice[managed_range(call, pointer, bytes)->id];
        const int who = location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
        switch (advice) {
        case cudaMemAdviseSetReadMostly:
        case cudaMemAdviseUnsetReadMostly:
            known.read_mostly = advice == cudaMemAdviseSetReadMostly;
            break;
        case cudaMemAdviseSetPreferredLocation:
            known.preferred = location;
            break;
        case cudaMemAdviseUnsetPreferredLocation:
            known.preferred = {cudaMemLocationTypeInvalid, 0};
            break;
        case cudaMemAdviseSetAccessedBy:
            known.accessed_by.insert(who);
            break;
        default:
            known.accessed_by.erase(who);
            break;
        }
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes,
                                              cudaMemLocation location, unsigned flags,
                                              cudaStream_t stream) {
    return api("cudaMemPrefetchAsync", [&](Call& call) -> cudaError_t {
        if (!find_stream(call, stream)) return cudaErrorInvalidResourceHandle;
        if (flags || !bytes || !managed_range(call, pointer, bytes)) return cudaErrorInvalidValue;
        if (!valid_location(call, location)) return cudaErrorInvalidDevice;
        call.global.advice[managed_range(call, pointer, bytes)->id].prefetched = location;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes,
                                                  unsigned flags) {
    return api("cudaStreamAttachMemAsync", [&](Call& call) -> cudaError_t {
        if (!find_stream(call, stream)) return cudaErrorInvalidResourceHandle;
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
            flags != cudaMemAttachSingle)
            return cudaErrorInvalidValue;
        return managed_range(call, pointer, bytes) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

static int device_of(const cudaMemLocation& location) {
    return location.type == cudaMemLocationTypeInvalid  ? cudaInvalidDeviceId
           : location.type == cudaMemLocationTypeDevice ? location.id
                                                        : cudaCpuDeviceId;
}

// Writes one attribute of managed memory to `data`, whose size the documentation prescribes.
static cudaError_t range_attribute(Call& call, void* data, size_t size,
                                   cudaMemRangeAttribute attribute, const void* pointer,
                                   size_t bytes) {
    const Allocation* found = bytes ? managed_range(call, pointer, bytes) : nullptr;
    if (!found || !data || !size || size % 4) return cudaErrorInvalidValue;
    const Advice& known = call.global.advice[found->id];
    int* const out = static_cast<int*>(data);
    if (attribute == cudaMemRangeAttributeAccessedBy) {
        auto who = known.accessed_by.begin();
        for (size_t i = 0; i < size / 4; ++i)
            out[i] = who == known.accessed_by.end() ? cudaInvalidDeviceId : *who++;
        return cudaSuccess;
    }
    if (size != 4) return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
        *out = known.read_mostly;
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
        *out = device_of(known.preferred);
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation:
        *out = device_of(known.prefetched);
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationType:
        *out = known.preferred.type;
        return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationId:
        *out = known.preferred.id;
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationType:
        *out = known.prefetched.type;
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationId:
        *out = known.prefetched.id;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

EMULATOR_API cudaError_t cudaMemRangeGetAttribute(void* data, size_t size,
                                                  cudaMemRangeAttribute attribute,
                                                  const void* pointer, size_t bytes) {
    return api("cudaMemRangeGetAttribute", [&](Call& call) {
        return range_attribute(call, data, size, attribute, pointer, bytes);
    });
}
EMULATOR_API cudaError_t cudaMemRangeGetAttributes(void** data, size_t* sizes,
                                                   cudaMemRangeAttribute* attributes, size_t count,
                                                   const void* pointer, size_t bytes) {
    return api("cudaMemRangeGetAttributes", [&](Call& call) -> cudaError_t {
        if (!data || !sizes || !attributes || !count) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i)
            if (const cudaError_t error =
                    range_attribute(call, data[i], sizes[i], attributes[i], pointer, bytes))
                return error;
        return cudaSuccess;
    });
}
