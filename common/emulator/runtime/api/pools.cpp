// SPDX-License-Identifier: MIT
// Memory pools in the API: creation, attributes, and access from other devices.
#include "runtime/core/pools.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <vector>

#include "runtime/core/stream.h"

using namespace runtime;

namespace {

struct Pools {
    std::vector<std::unique_ptr<Pool>> made;  // all pools ever created: memory may outlive a handle
    std::unordered_set<const Pool*> live;
    std::map<int, Pool*> defaults, current;  // by device
    std::map<uint32_t, Pool*> owner;         // by allocation
};
Pools& pools() {
    static auto& instance = *new Pools;
    return instance;
}

Pool* make_pool(int device) {
    pools().made.push_back(std::make_unique<Pool>());
    Pool* const pool = pools().made.back().get();
    pool->device = device;
    pools().live.insert(pool);
    return pool;
}
cudaMemPool_t handle_of(Pool* pool) {
    return reinterpret_cast<cudaMemPool_t>(pool);
}
Pool* default_pool(int device) {
    Pool*& pool = pools().defaults[device];
    if (!pool) {
        pool = make_pool(device);
        pool->is_default = true;
    }
    return pool;
}
bool known_device(Call& call, int device) {
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
        return known_device(call, device) ? body(call) : cudaErrorInvalidDevice;
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

cudaError_t get_attribute(Pool& pool, cudaMemPoolAttr attribute, void* value) {
    if (!value) return cudaErrorInvalidValue;
    if (const int* flag = flag_of(pool, attribute)) {
        std::memcpy(value, flag, sizeof *flag);
        return cudaSuccess;
    }
    uint64_t number = 0;
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        number = pool.release_threshold;
        break;
    case cudaMemPoolAttrReservedMemCurrent:
        number = pool.reserved;
        break;
    case cudaMemPoolAttrUsedMemCurrent:
        number = pool.used;
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
    // The documentation only allows resetting the high-water marks.
    case cudaMemPoolAttrReservedMemHigh:
        if (number == 0) pool.reserved_high = pool.reserved;
        break;
    case cudaMemPoolAttrUsedMemHigh:
        if (number == 0) pool.used_high = pool.used;
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return number == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

constexpr uint64_t kPoolUnit = 2 << 20;  // pools grow by pages of the device

// In whole pages. A threshold of UINT64_MAX means "keep everything", so this does not overflow.
static uint64_t whole_units(uint64_t bytes) {
    return bytes > UINT64_MAX - kPoolUnit ? bytes : (bytes + kPoolUnit - 1) / kPoolUnit * kPoolUnit;
}

void Pool::take(uint64_t bytes) {
    used += bytes;
    reserved = std::max(reserved, whole_units(used));
    used_high = std::max(used_high, used);
    reserved_high = std::max(reserved_high, reserved);
}
void Pool::give_back(uint64_t bytes) {
    used -= std::min(used, bytes);
}
void Pool::trim(uint64_t keep) {
    reserved = std::min(reserved, whole_units(std::max(used, keep)));
}

Pool* runtime::find_pool(cudaMemPool_t handle) {
    auto* pool = reinterpret_cast<Pool*>(handle);
    return pools().live.contains(pool) ? pool : nullptr;
}
Pool* runtime::current_pool(int device) {
    Pool*& pool = pools().current[device];
    return pool ? pool : pool = default_pool(device);
}
static uint64_t devices_with_access(const Pool& pool) {
    uint64_t devices = 0;
    for (const auto& [device, flags] : pool.access)
        if (flags != cudaMemAccessFlagsProtNone) devices |= uint64_t(1) << (unsigned(device) & 63);
    return devices;
}
void runtime::add_to_pool(Pool& pool, machine::Allocation& allocation) {
    allocation.of_pool = true;
    allocation.shared_with = devices_with_access(pool);
    pool.take(allocation.bytes);
    pools().owner[allocation.id] = &pool;
}
void runtime::remove_from_pool(const machine::Allocation& allocation) {
    const auto found = pools().owner.find(allocation.id);
    if (found == pools().owner.end()) return;
    found->second->give_back(allocation.bytes);
    pools().owner.erase(found);
}
bool runtime::is_from_pool(const machine::Allocation& allocation) {
    return pools().owner.contains(allocation.id);
}
void runtime::pools_synchronised(int device) {
    for (const Pool* pool : pools().live)
        if (pool->device == device) const_cast<Pool*>(pool)->trim(pool->release_threshold);
}

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
            return cudaErrorNotSupported;  // sharing with other processes
        if (!known_device(call, props->location.id)) return cudaErrorInvalidDevice;
        Pool* pool = make_pool(props->location.id);
        pool->max_bytes = props->maxSize;
        *result = handle_of(pool);
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
    return with_pool("cudaMemPoolDestroy", handle, [&](Call&, Pool& pool) {
        if (pool.is_default) return cudaErrorInvalidValue;
        // A device whose current pool is destroyed returns to its default pool.
        if (pools().current[pool.device] == &pool) pools().current[pool.device] = nullptr;
        // The documentation destroys a pool only when its last allocation is freed: the object
        // stays for those, its handle becomes invalid.
        pools().live.erase(&pool);
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
    return with_pool("cudaMemPoolTrimTo", handle, [&](Call&, Pool& pool) {
        pool.trim(keep);
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute,
                                                 void* value) {
    return with_pool("cudaMemPoolSetAttribute", handle, [&](Call&, Pool& pool) {
        return set_attribute(pool, attribute, value);
    });
}
EMULATOR_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute,
                                                 void* value) {
    return with_pool("cudaMemPoolGetAttribute", handle, [&](Call&, Pool& pool) {
        return get_attribute(pool, attribute, value);
    });
}
EMULATOR_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list,
                                              size_t count) {
    return with_pool("cudaMemPoolSetAccess", handle, [&](Call& call, Pool& pool) {
        if (count && !list) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            if (list[i].location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
            if (!known_device(call, list[i].location.id)) return cudaErrorInvalidDevice;
            // The pool's own device always has access.
            if (list[i].location.id == pool.device &&
                list[i].flags != cudaMemAccessFlagsProtReadWrite)
                return cudaErrorInvalidValue;
        }
        for (size_t i = 0; i < count; ++i) pool.access[list[i].location.id] = list[i].flags;
        for (const auto& [id, owner] : pools().owner)  // including memory that is already allocated
            if (owner == &pool)
                call.global.memory.by_id(id).shared_with = devices_with_access(pool);
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                              cudaMemLocation* location) {
    return with_pool("cudaMemPoolGetAccess", handle, [&](Call& call, Pool& pool) {
        if (!flags || !location || location->type != cudaMemLocationTypeDevice)
            return cudaErrorInvalidValue;
        if (!known_device(call, location->id)) return cudaErrorInvalidDevice;
        const auto found = pool.access.find(location->id);
        *flags = location->id == pool.device  ? cudaMemAccessFlagsProtReadWrite
                 : found == pool.access.end() ? cudaMemAccessFlagsProtNone
                                              : found->second;
        return cudaSuccess;
    });
}

// The same with a location in place of a device. Only pinned memory of devices has pools here.
static cudaError_t pool_by_location(const char* name, cudaMemPool_t* result,
                                    const cudaMemLocation* location, cudaMemAllocationType type,
                                    Pool* (*choose)(int)) {
    return api(name, [&](Call& call) -> cudaError_t {
        if (!result || !location) return cudaErrorInvalidValue;
        if (location->type != cudaMemLocationTypeDevice || type != cudaMemAllocationTypePinned)
            return cudaErrorNotSupported;
        if (!known_device(call, location->id)) return cudaErrorInvalidDevice;
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

// ---- memory of graphs: only what the graphs' nodes have allocated

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
