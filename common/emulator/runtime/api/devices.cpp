// SPDX-License-Identifier: MIT
// Devices: selection, queries, waiting, reset; versions; peer access.
#include <algorithm>
#include <cstring>

#include "runtime/core/device_properties.h"
#include "runtime/core/pools.h"
#include "runtime/core/registry.h"
#include "runtime/core/stream.h"

using namespace runtime;

namespace {

bool valid(Call& call, int device) {
    return device >= 0 && device < call.global.device_count();
}

cudaError_t reset(Call& call) {
    Device& device = call.device();
    machine::Memory& memory = call.global.memory;
    for (machine::Observer* observer : call.global.observers.memory)
        observer->on_device_reset(device.ordinal);
    unload_device(device.ordinal);
    for (uint32_t id = 0; id < memory.count(); ++id) {
        machine::Allocation& allocation = memory.by_id(id);
        if (allocation.live && allocation.device == device.ordinal &&
            allocation.kind != machine::MemoryKind::kRegistered)
            call.global.release(allocation, call.site());
    }
    for (Event* event : call.global.events)
        if (event->device == device.ordinal) stop_sharing(*event);
    const auto retire = [&](auto& live, auto& retired) {
        for (auto* object : live)
            if (object->device == device.ordinal) retired.push_back(object);
        std::erase_if(live, [&](auto* object) { return object->device == device.ordinal; });
    };
    retire(call.global.streams, call.global.retired_streams);
    retire(call.global.events, call.global.retired_events);
    Device fresh;
    fresh.ordinal = device.ordinal;
    fresh.default_stream = device.default_stream;
    fresh.primary = device.primary;
    // A new machine is needed: the old one resolves symbols to variables that no longer exist.
    if (device.machine) registry().retired_machines.push_back(std::move(device.machine));
    device = std::move(fresh);
    call.thread.last_error = cudaSuccess;
    return cudaSuccess;
}

// From now on kernels of the current device may access the memory of its peers and of no other
// device.
void apply_peers(Call& call) {
    uint64_t devices = uint64_t(1) << call.thread.device;
    for (const int peer : call.device().peers) devices |= uint64_t(1) << peer;
    call.global.machine(call.thread.device).set_peers(devices);
}

size_t* limit_of(Device& device, cudaLimit limit) {
    switch (limit) {
    case cudaLimitStackSize:
        return &device.stack_bytes;
    case cudaLimitPrintfFifoSize:
        return &device.printf_bytes;
    case cudaLimitMallocHeapSize:
        return &device.heap_bytes;
    case cudaLimitDevRuntimePendingLaunchCount:
        return &device.pending_launches;
    case cudaLimitMaxL2FetchGranularity:
        return &device.l2_fetch_bytes;
    default:
        return nullptr;  // sync depth and persisting L2: not on this compute capability
    }
}

}  // namespace

EMULATOR_API cudaError_t cudaDeviceSynchronize(void) {
    return api("cudaDeviceSynchronize", kSynchronises, [](Call& call) -> cudaError_t {
        if (invalidate_captures(call)) return cudaErrorStreamCaptureUnsupported;
        machine::OrderEvent event{machine::OrderEvent::Kind::kDeviceSync};
        event.device = call.thread.device;
        event.site = call.site();
        call.global.fire(event);
        pools_synchronised(call.thread.device);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceReset(void) {
    return api("cudaDeviceReset", kIgnoresFault, reset);
}

EMULATOR_API cudaError_t cudaGetDeviceCount(int* count) {
    return api("cudaGetDeviceCount", kIgnoresFault, [&](Call& call) {
        if (!count) return cudaErrorInvalidValue;
        *count = call.global.device_count();
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGetDevice(int* device) {
    return api("cudaGetDevice", kIgnoresFault, [&](Call& call) {
        if (!device) return cudaErrorInvalidValue;
        *device = call.thread.device;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaSetDevice(int device) {
    return api("cudaSetDevice", kIgnoresFault, [&](Call& call) {
        if (!valid(call, device)) return cudaErrorInvalidDevice;
        call.thread.device = device;
        // In terms of the driver API: the device's primary context becomes current.
        if (!call.thread.contexts.empty()) call.thread.contexts.back() = call.device().primary;
        call.bind();
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaInitDevice(int device, unsigned, unsigned flags) {
    return api("cudaInitDevice", kIgnoresFault, [&](Call& call) {
        if (!valid(call, device)) return cudaErrorInvalidDevice;
        if (flags & ~unsigned(cudaInitDeviceFlagsAreValid)) return cudaErrorInvalidValue;
        call.global.devices[size_t(device)].primary->active = true;  // and it is not made current
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaSetValidDevices(int* devices, int count) {
    return api("cudaSetValidDevices", kIgnoresFault, [&](Call& call) {
        if (count < 0 || (count && !devices)) return cudaErrorInvalidValue;
        for (int i = 0; i < count; ++i)
            if (!valid(call, devices[i])) return cudaErrorInvalidDevice;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return api("cudaGetDeviceProperties", kIgnoresFault, [&](Call& call) {
        if (!properties) return cudaErrorInvalidValue;
        if (!valid(call, device)) return cudaErrorInvalidDevice;
        *properties = device_properties(call.global, device);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return api("cudaDeviceGetAttribute", kIgnoresFault, [&](Call& call) {
        if (!value) return cudaErrorInvalidValue;
        if (!valid(call, device)) return cudaErrorInvalidDevice;
        return device_attribute(call.global, device, attribute, *value) ? cudaSuccess
                                                                        : cudaErrorInvalidValue;
    });
}

// All devices are identical, so the first one always matches best.
EMULATOR_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
    return api("cudaChooseDevice", kIgnoresFault, [&](Call&) {
        if (!device || !properties) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
    return api("cudaSetDeviceFlags", [&](Call& call) {
        const unsigned schedule = flags & cudaDeviceScheduleMask;
        if ((flags & ~unsigned(cudaDeviceMask)) || (schedule & (schedule - 1)))
            return cudaErrorInvalidValue;
        call.device().flags = flags;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
    return api("cudaGetDeviceFlags", kIgnoresFault, [&](Call& call) {
        if (!flags) return cudaErrorInvalidValue;
        *flags = call.device().flags | cudaDeviceMapHost;  // always on with unified addressing
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
    return api("cudaDeviceGetPCIBusId", kIgnoresFault, [&](Call& call) {
        if (!valid(call, device)) return cudaErrorInvalidDevice;
        const std::string id = pci_bus_id(device);
        if (!text || length <= int(id.size())) return cudaErrorInvalidValue;
        std::memcpy(text, id.c_str(), id.size() + 1);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return api("cudaDeviceGetByPCIBusId", kIgnoresFault, [&](Call& call) {
        unsigned domain = 0, bus = 0, slot = 0, function = 0;
        if (!device || !text) return cudaErrorInvalidValue;
        if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
            domain = 0;
            if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2)
                return cudaErrorInvalidValue;
        }
        if (domain || slot || function || !valid(call, int(bus) - 1)) return cudaErrorInvalidDevice;
        *device = int(bus) - 1;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDriverGetVersion(int* version) {
    if (!version) return cudaErrorInvalidValue;
    context().driver_initialised = true;  // as on an H200; a version of the runtime does not
    *version = CUDART_VERSION;
    return cudaSuccess;
}

EMULATOR_API cudaError_t cudaRuntimeGetVersion(int* version) {
    if (!version) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
}

EMULATOR_API cudaError_t cudaProfilerStart(void) {
    return cudaSuccess;
}
EMULATOR_API cudaError_t cudaProfilerStop(void) {
    return cudaSuccess;
}

// ---- limits and cache preferences ------------------------------------------------------------

EMULATOR_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return api("cudaDeviceSetLimit", [&](Call& call) {
        Device& device = call.device();
        size_t* stored = limit_of(device, limit);
        if (!stored) return cudaErrorUnsupportedLimit;
        machine::Machine& machine = call.global.machine(device.ordinal);
        if (limit == cudaLimitStackSize) {
            if (value > (512u << 10)) return cudaErrorInvalidValue;
            value = std::max<size_t>((value + 15) / 16 * 16, 16);
            machine.set_stack_bytes(value);
        }
        if (limit == cudaLimitMallocHeapSize) {
            if (value > call.global.memory.capacity()) return cudaErrorMemoryAllocation;
            machine.set_heap_bytes(value);
        }
        if (limit == cudaLimitMaxL2FetchGranularity) value = std::min<size_t>(value, 128);
        *stored = value;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    return api("cudaDeviceGetLimit", [&](Call& call) {
        if (!value) return cudaErrorInvalidValue;
        const size_t* stored = limit_of(call.device(), limit);
        if (!stored) return cudaErrorUnsupportedLimit;
        *value = *stored;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return api("cudaDeviceSetCacheConfig", [&](Call& call) {
        if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
            return cudaErrorInvalidValue;
        call.device().cache = config;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return api("cudaDeviceGetCacheConfig", [&](Call& call) {
        if (!config) return cudaErrorInvalidValue;
        *config = call.device().cache;
        return cudaSuccess;
    });
}

// The bank size is fixed on this compute capability: setting it has no effect.
EMULATOR_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    return api("cudaDeviceSetSharedMemConfig", [&](Call&) {
        return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte
                   ? cudaErrorInvalidValue
                   : cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return api("cudaDeviceGetSharedMemConfig", [&](Call&) {
        if (!config) return cudaErrorInvalidValue;
        *config = cudaSharedMemBankSizeFourByte;
        return cudaSuccess;
    });
}

// ---- peers -----------------------------------------------------------------------------------

EMULATOR_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return api("cudaDeviceCanAccessPeer", kIgnoresFault, [&](Call& call) {
        if (!can) return cudaErrorInvalidValue;
        if (!valid(call, device) || !valid(call, peer)) return cudaErrorInvalidDevice;
        *can = device != peer;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    return api("cudaDeviceEnablePeerAccess", [&](Call& call) {
        if (flags) return cudaErrorInvalidValue;
        if (!valid(call, peer) || peer == call.thread.device) return cudaErrorInvalidDevice;
        if (!call.device().peers.insert(peer).second) return cudaErrorPeerAccessAlreadyEnabled;
        apply_peers(call);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return api("cudaDeviceDisablePeerAccess", [&](Call& call) {
        if (!valid(call, peer)) return cudaErrorInvalidDevice;
        if (!call.device().peers.erase(peer)) return cudaErrorPeerAccessNotEnabled;
        apply_peers(call);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute,
                                                   int from, int to) {
    return api("cudaDeviceGetP2PAttribute", kIgnoresFault, [&](Call& call) {
        if (!value || attribute < cudaDevP2PAttrPerformanceRank ||
            attribute > cudaDevP2PAttrOnlyPartialNativeAtomicSupported)
            return cudaErrorInvalidValue;
        if (!valid(call, from) || !valid(call, to) || from == to) return cudaErrorInvalidDevice;
        *value = attribute == cudaDevP2PAttrAccessSupported ||
                 attribute == cudaDevP2PAttrNativeAtomicSupported ||
                 attribute == cudaDevP2PAttrCudaArrayAccessSupported;
        return cudaSuccess;
    });
}
