// SPDX-License-Identifier: MIT
// Memory pools. Memory is taken from the host when it is asked for and given back when it is freed,
// so a pool carries its attributes and nothing else; the statistics are those of its device.
#include <cstring>
#include <map>
#include <unordered_set>

#include "runtime/stream.h"

using namespace runtime;

namespace {

struct Pool {
    int device = 0;
    bool is_default = false;
    uint64_t release_threshold = 0, reserved_high = 0, used_high = 0;
    int reuse_event = 1, reuse_opportunistic = 1, reuse_internal = 1;
    std::map<int, cudaMemAccessFlags> access;  // of the other devices
};

struct Pools {
    std::unordered_set<const Pool*> live;
    std::map<int, Pool*> defaults, current;  // by device
};
Pools& pools() {
    static auto& instance = *new Pools;
    return instance;
}

Pool* make_pool(int device) {
    auto* pool = new Pool;
    pool->device = device;
    pools().live.insert(pool);
    return pool;
}
cudaMemPool_t handle_of(Pool* pool) {
    return reinterpret_cast<cudaMemPool_t>(pool);
}
Pool* find_pool(cudaMemPool_t handle) {
    auto* pool = reinterpret_cast<Pool*>(handle);
    return pools().live.contains(pool) ? pool : nullptr;
}
Pool* default_pool(int device) {
    Pool*& pool = pools().defaults[device];
    if (!pool) {
        pool = make_pool(device);
        pool->is_default = true;
    }
    return pool;
}
Pool* current_pool(int device) {
    Pool*& pool = pools().current[device];
    return pool ? pool : pool = default_pool(device);
}

bool valid_device(Call& call, int device) {
    return device >= 0 && device < call.global.device_count();
}

template <class F>
cudaError_t with_pool(const char* name, cudaMemPool_t handle, F&& body) {
    return api(name, [&](Call& call) -> cudaError_t {
        Pool* pool = find_pool(handle);
        return pool ? body(call, *pool) : cudaErrorInvalidValue;
    });
}

template <class F>
cudaError_t with_device(const char* name, int device, F&& body) {
    return api(name, [&](Call& call) -> cudaError_t {
        return valid_device(call, device) ? body(call) : cudaErrorInvalidDevice;
    });
}

// The int attributes; null for the others.
int* flag_of(Pool& pool, cudaMemPoolAttr attribute) {
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
        return &pool.reuse_event;
    case cudaMemPoolReuseAllowOpportunistic:
        return &pool.reuse_opportunistic;
    case cudaMemPoolReuseAllowInternalDependencies:
        return &pool.reuse_internal;
    default:
        return nullptr;
    }
}

cudaError_t get_attribute(Call& call, Pool& pool, cudaMemPoolAttr attribute, void* value) {
    if (!value) return cudaErrorInvalidValue;
    if (const int* flag = flag_of(pool, attribute)) {
        std::memcpy(value, flag, sizeof *flag);
        return cudaSuccess;
    }
    const uint64_t used = call.global.memory.used(pool.device);
    pool.used_high = std::max(pool.used_high, used);
    pool.reserved_high = std::max(pool.reserved_high, used);
    uint64_t number = 0;
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        number = pool.release_threshold;
        break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
        number = used;
        break;
    case cudaMemPoolAttrReservedMemHigh:
        number = pool.reserved_high;
        break;
    case cudaMemPoolAttrUsedMemHigh:
        number = pool.used_high;
        break;
    default:
        return cudaErrorInvalidValue;
    }
    std::memcpy(value, &number, sizeof number);
    return cudaSuccess;
}

cudaError_t set_attribute(Pool& pool, cudaMemPoolAttr attribute, const void* value) {
    if (!value) return cudaErrorInvalidValue;
    if (int* flag = flag_of(pool, attribute)) {
        std::memcpy(flag, value, sizeof *flag);
        return cudaSuccess;
    }
    uint64_t number = 0;
    std::memcpy(&number, value, sizeof number);
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        pool.release_threshold = number;
        return cudaSuccess;
    // The documentation allows nothing but a reset of the high marks.
    case cudaMemPoolAttrReservedMemHigh:
        pool.reserved_high = 0;
        break;
    case cudaMemPoolAttrUsedMemHigh:
        pool.used_high = 0;
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return number == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

EMULATOR_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* result, int device) {
    return with_device("cudaDeviceGetDefaultMemPool", device, [&](Call&) {
        if (!result) return cudaErrorInvalidValue;
        *result = handle_of(default_pool(device));
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* result, int device) {
    return with_device("cudaDeviceGetMemPool", device, [&](Call&) {
        if (!result) return cudaErrorInvalidValue;
        *result = handle_of(current_pool(device));
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
    return with_device("cudaDeviceSetMemPool", device, [&](Call&) {
        Pool* pool = find_pool(handle);
        if (!pool || pool->device != device) return cudaErrorInvalidValue;
        pools().current[device] = pool;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* result, const cudaMemPoolProps* props) {
    return api("cudaMemPoolCreate", [&](Call& call) -> cudaError_t {
        if (!result || !props || props->allocType != cudaMemAllocationTypePinned)
            return cudaErrorInvalidValue;
        if (props->location.type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
        if (props->handleTypes != cudaMemHandleTypeNone)
            return cudaErrorNotSupported;  // no other process
        if (!valid_device(call, props->location.id)) return cudaErrorInvalidDevice;
        *result = handle_of(make_pool(props->location.id));
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
    return with_pool("cudaMemPoolDestroy", handle, [&](Call&, Pool& pool) {
        if (pool.is_default) return cudaErrorInvalidValue;
        // A device whose pool goes falls back to its default pool.
        if (pools().current[pool.device] == &pool) pools().current[pool.device] = nullptr;
        pools().live.erase(&pool);
        delete &pool;
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t) {
    return with_pool("cudaMemPoolTrimTo", handle, [](Call&, Pool&) { return cudaSuccess; });
}
EMULATOR_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute,
                                                 void* value) {
    return with_pool("cudaMemPoolSetAttribute", handle, [&](Call&, Pool& pool) {
        return set_attribute(pool, attribute, value);
    });
}
EMULATOR_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute,
                                                 void* value) {
    return with_pool("cudaMemPoolGetAttribute", handle, [&](Call& call, Pool& pool) {
        return get_attribute(call, pool, attribute, value);
    });
}
EMULATOR_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list,
                                              size_t count) {
    return with_pool("cudaMemPoolSetAccess", handle, [&](Call& call, Pool& pool) {
        if (count && !list) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            if (list[i].location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
            if (!valid_device(call, list[i].location.id)) return cudaErrorInvalidDevice;
            // Its own device always has access.
            if (list[i].location.id == pool.device &&
                list[i].flags != cudaMemAccessFlagsProtReadWrite)
                return cudaErrorInvalidValue;
        }
        for (size_t i = 0; i < count; ++i) pool.access[list[i].location.id] = list[i].flags;
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                              cudaMemLocation* location) {
    return with_pool("cudaMemPoolGetAccess", handle, [&](Call& call, Pool& pool) {
        if (!flags || !location || location->type != cudaMemLocationTypeDevice)
            return cudaErrorInvalidValue;
        if (!valid_device(call, location->id)) return cudaErrorInvalidDevice;
        const auto found = pool.access.find(location->id);
        *flags = location->id == pool.device  ? cudaMemAccessFlagsProtReadWrite
                 : found == pool.access.end() ? cudaMemAccessFlagsProtNone
                                              : found->second;
        return cudaSuccess;
    });
}

#if CUDART_VERSION >= 13000
// The same by location instead of device. Only pinned memory of devices has pools here.
static cudaError_t pool_by_location(const char* name, cudaMemPool_t* result,
                                    const cudaMemLocation* location, cudaMemAllocationType type,
                                    Pool* (*choose)(int)) {
    return api(name, [&](Call& call) -> cudaError_t {
        if (!result || !location) return cudaErrorInvalidValue;
        if (location->type != cudaMemLocationTypeDevice || type != cudaMemAllocationTypePinned)
            return cudaErrorNotSupported;
        if (!valid_device(call, location->id)) return cudaErrorInvalidDevice;
        *result = handle_of(choose(location->id));
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* result, cudaMemLocation* location,
                                                  cudaMemAllocationType type) {
    return pool_by_location("cudaMemGetDefaultMemPool", result, location, type, default_pool);
}
EMULATOR_API cudaError_t cudaMemGetMemPool(cudaMemPool_t* result, cudaMemLocation* location,
                                           cudaMemAllocationType type) {
    return pool_by_location("cudaMemGetMemPool", result, location, type, current_pool);
}
EMULATOR_API cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                                           cudaMemPool_t handle) {
    return with_pool("cudaMemSetMemPool", handle, [&](Call&, Pool& pool) {
        if (!location || location->type != cudaMemLocationTypeDevice ||
            type != cudaMemAllocationTypePinned)
            return cudaErrorNotSupported;
        if (location->id != pool.device) return cudaErrorInvalidValue;
        pools().current[pool.device] = &pool;
        return cudaSuccess;
    });
}
#endif

// ---- memory of graphs: there is none beyond what the graphs' nodes have allocated
// ----------------

EMULATOR_API cudaError_t cudaDeviceGraphMemTrim(int device) {
    return with_device("cudaDeviceGraphMemTrim", device, [](Call&) { return cudaSuccess; });
}
EMULATOR_API cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                        cudaGraphMemAttributeType attribute,
                                                        void* value) {
    return with_device("cudaDeviceGetGraphMemAttribute", device, [&](Call& call) {
        if (!value || attribute < cudaGraphMemAttrUsedMemCurrent ||
            attribute > cudaGraphMemAttrReservedMemHigh)
            return cudaErrorInvalidValue;
        const uint64_t used = call.global.memory.used(device);
        std::memcpy(value, &used, sizeof used);
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                                        cudaGraphMemAttributeType attribute,
                                                        void* value) {
    return with_device("cudaDeviceSetGraphMemAttribute", device, [&](Call&) {
        const bool high = attribute == cudaGraphMemAttrUsedMemHigh ||
                          attribute == cudaGraphMemAttrReservedMemHigh;
        return value && high ? cudaSuccess : cudaErrorInvalidValue;
    });
}
