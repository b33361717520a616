// SPDX-License-Identifier: MIT
// Allocation and release of device, managed, pinned, registered and pitched memory.
#include <algorithm>

#include "runtime/core/copy.h"
#include "runtime/core/free_memory.h"
#include "runtime/core/pools.h"
#include "runtime/core/stream.h"

using namespace runtime;
using machine::Allocation;
using machine::MemoryKind;

namespace {

constexpr uint64_t kPitchAlign = 512;

cudaError_t allocate(Call& call, MemoryKind kind, void** result, size_t bytes, int device,
                     uint64_t align = 256) {
    Allocation* made = call.global.memory.allocate(kind, bytes, device, call.site(), align);
    if (!made) return cudaErrorMemoryAllocation;
    call.global.fire_alloc(*made);
    *result = reinterpret_cast<void*>(made->address);
    return cudaSuccess;
}

cudaError_t device_memory(Call& call, void** result, size_t bytes, int device) {
    if (!result) return cudaErrorInvalidValue;
    *result = nullptr;
    if (bytes == 0) return cudaSuccess;
    return allocate(call, MemoryKind::kDevice, result, bytes, device);
}

// The same for calls that no capture of a stream permits.
cudaError_t memory_at_once(Call& call, void** result, size_t bytes) {
    if (refuses_unsafe_call(call)) return cudaErrorStreamCaptureUnsupported;
    return device_memory(call, result, bytes, call.thread.device);
}

cudaError_t host_memory(Call& call, void** result, size_t bytes, unsigned flags) {
    constexpr unsigned known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (!result || (flags & ~known)) return cudaErrorInvalidValue;
    *result = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (const cudaError_t error =
            allocate(call, MemoryKind::kPinned, result, bytes, call.thread.device, 4096))
        return error;
    const Allocation* made = call.global.memory.find(reinterpret_cast<uint64_t>(*result));
    call.global.host_memory[made->id].flags = flags;
    return cudaSuccess;
}

// Frees even after a fault (and still returns the fault's error), so that no leak is reported as
// well.
cudaError_t free_device(const char* name, void* pointer) {
    return api(name, kIgnoresFault, [&](Call& call) {
        call.bind();
        const cudaError_t error = free_memory(call,
                                              pointer,
                                              {[](const Allocation& allocation) {
                                                   return allocation.kind == MemoryKind::kManaged ||
                                                          (allocation.kind == MemoryKind::kDevice &&
                                                           !allocation.imported);
                                               },
                                               "frees",
                                               "memory of cudaMalloc and cudaMallocManaged"});
        return call.device().fault != cudaSuccess ? call.device().fault : error;
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return api("cudaMalloc", [&](Call& call) { return memory_at_once(call, pointer, bytes); });
}

EMULATOR_API cudaError_t cudaFree(void* pointer) {
    return free_device("cudaFree", pointer);
}

EMULATOR_API cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
    return api("cudaMallocManaged", [&](Call& call) -> cudaError_t {
        if (!pointer || bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
            return cudaErrorInvalidValue;
        if (refuses_unsafe_call(call)) return cudaErrorStreamCaptureUnsupported;
        return allocate(call, MemoryKind::kManaged, pointer, bytes, call.thread.device);
    });
}

EMULATOR_API cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    return api("cudaMallocHost", [&](Call& call) { return host_memory(call, pointer, bytes, 0); });
}

EMULATOR_API cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
    return api("cudaHostAlloc",
               [&](Call& call) { return host_memory(call, pointer, bytes, flags); });
}

EMULATOR_API cudaError_t cudaFreeHost(void* pointer) {
    return api("cudaFreeHost", kIgnoresFault, [&](Call& call) {
        const cudaError_t error = free_memory(
            call,
            pointer,
            {[](const Allocation& allocation) { return allocation.kind == MemoryKind::kPinned; },
             "frees",
             "memory of cudaMallocHost and cudaHostAlloc"});
        return call.device().fault != cudaSuccess ? call.device().fault : error;
    });
}

EMULATOR_API cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width,
                                         size_t height) {
    return api("cudaMallocPitch", [&](Call& call) -> cudaError_t {
        if (!pointer || !pitch) return cudaErrorInvalidValue;
        *pitch = (width + kPitchAlign - 1) / kPitchAlign * kPitchAlign;
        size_t bytes = 0;
        if (__builtin_mul_overflow(*pitch, height, &bytes)) return cudaErrorMemoryAllocation;
        return memory_at_once(call, pointer, bytes);
    });
}

EMULATOR_API cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
    return api("cudaMalloc3D", [&](Call& call) -> cudaError_t {
        if (!pointer) return cudaErrorInvalidValue;
        *pointer = {nullptr,
                    (extent.width + kPitchAlign - 1) / kPitchAlign * kPitchAlign,
                    extent.width,
                    extent.height};
        size_t bytes = 0;
        if (__builtin_mul_overflow(pointer->pitch, extent.height, &bytes) ||
            __builtin_mul_overflow(bytes, extent.depth, &bytes))
            return cudaErrorMemoryAllocation;
        return memory_at_once(call, &pointer->ptr, bytes);
    });
}

// ---- stream-ordered --------------------------------------------------------------------------

// Work that uses the memory in another stream must finish before this stream reaches the free, and
// must not begin before this stream has reached the allocation.
static void report_order(Call& call, const Stream& stream, void* pointer,
                         machine::HostAccess::Kind kind) {
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    const Allocation* found = call.global.memory.find(address);
    if (!found || !found->live || found->address != address) return;
    machine::HostAccess event{};
    event.kind = kind;
    event.api = call.name;
    event.allocation = found;
    event.address = address;
    event.bytes = found->bytes;
    event.stream = stream.id;
    event.site = call.site();
    event.ordering = machine::HostAccess::Ordering::kAsync;
    call.global.fire(event);
}

// A captured allocation has its address immediately, as the documentation of graph memory nodes
// says.
static cudaError_t malloc_async(const char* name, void** pointer, size_t bytes,
                                const cudaMemPool_t* from, cudaStream_t stream) {
    return api(name, [&](Call& call) -> cudaError_t {
        Stream* where = find_stream(call, stream);
        if (!where) return cudaErrorInvalidResourceHandle;
        Pool* pool = from ? find_pool(*from) : current_pool(where->device);
        if (!pool) return cudaErrorInvalidValue;
        if (pool->max_bytes && pool->used + bytes > pool->max_bytes)
            return cudaErrorMemoryAllocation;
        // Whichever device is current: the memory is that of the pool's.
        if (const cudaError_t error = device_memory(call, pointer, bytes, pool->device))
            return error;
        Allocation* made = call.global.memory.find(reinterpret_cast<uint64_t>(*pointer));
        if (made) add_to_pool(*pool, *made);
        if (!where->capture) {
            report_order(call, *where, *pointer, machine::HostAccess::Kind::kAllocate);
            return cudaSuccess;
        }
        return where->capture->add(
            *where, Work{Work::Kind::kAllocate, call.name, nullptr, nullptr, *pointer});
    });
}

EMULATOR_API cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return malloc_async("cudaMallocAsync", pointer, bytes, nullptr, stream);
}
EMULATOR_API cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                                 cudaStream_t stream) {
    return malloc_async("cudaMallocFromPoolAsync", pointer, bytes, &pool, stream);
}
EMULATOR_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    return api("cudaFreeAsync", kIgnoresFault, [&](Call& call) -> cudaError_t {
        Stream* where = find_stream(call, stream);
        if (!where) return cudaErrorInvalidResourceHandle;
        if (!pointer) return cudaErrorInvalidValue;
        if (where->capture)  // freed when the graph runs
            return where->capture->add(
                *where, Work{Work::Kind::kFree, call.name, nullptr, nullptr, pointer});
        report_order(call, *where, pointer, machine::HostAccess::Kind::kFree);
        const cudaError_t error =
            free_memory(call,
                        pointer,
                        {[](const Allocation& allocation) {
                             return allocation.kind == MemoryKind::kDevice && !allocation.imported;
                         },
                         "frees",
                         "memory of cudaMallocAsync"});
        return call.device().fault != cudaSuccess ? call.device().fault : error;
    });
}

// ---- host memory -----------------------------------------------------------------------------

EMULATOR_API cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
    return api("cudaHostRegister", [&](Call& call) -> cudaError_t {
        constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                                   cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
        if (!pointer || !bytes || (flags & ~known)) return cudaErrorInvalidValue;
        machine::Memory& memory = call.global.memory;
        const uint64_t start = reinterpret_cast<uint64_t>(pointer);
        if (memory.is_device_address(start)) return cudaErrorInvalidValue;
        for (uint32_t id = 0; id < memory.count(); ++id) {
            const Allocation& other = memory.by_id(id);
            if (other.kind == MemoryKind::kRegistered && other.live &&
                other.address < start + bytes && start < other.address + other.bytes)
                return cudaErrorHostMemoryAlreadyRegistered;
        }
        Allocation* made = memory.register_host(pointer, bytes, call.site());
        call.global.host_memory[made->id].flags = flags;
        call.global.fire_alloc(*made);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaHostUnregister(void* pointer) {
    return api("cudaHostUnregister", kIgnoresFault, [&](Call& call) -> cudaError_t {
        if (!pointer) return cudaErrorInvalidValue;
        Allocation* found = call.global.memory.find(reinterpret_cast<uint64_t>(pointer));
        if (!found || found->kind != MemoryKind::kRegistered || !found->live ||
            found->address != reinterpret_cast<uint64_t>(pointer))
            return cudaErrorHostMemoryNotRegistered;
        call.global.release(*found, call.site());
        return call.device().fault;
    });
}

static Allocation* host_visible_at(Call& call, const void* pointer) {
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    Allocation* found = call.global.memory.find(address);
    const bool good =
        found && found->live && found->contains(address, 1) &&
        (found->kind == MemoryKind::kPinned || found->kind == MemoryKind::kRegistered);
    return good ? found : nullptr;
}

EMULATOR_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
    return api("cudaHostGetDevicePointer", [&](Call& call) -> cudaError_t {
        if (!device || !host || flags) return cudaErrorInvalidValue;
        if (!host_visible_at(call, host)) return cudaErrorInvalidValue;
        *device = host;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
    return api("cudaHostGetFlags", [&](Call& call) -> cudaError_t {
        const Allocation* found = host_visible_at(call, host);
        if (!flags || !found) return cudaErrorInvalidValue;
        *flags = call.global.host_memory[found->id].flags;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
    return api("cudaMemGetInfo", [&](Call& call) -> cudaError_t {
        if (!free_bytes || !total) return cudaErrorInvalidValue;
        *total = call.global.memory.capacity();
        *free_bytes =
            *total - std::min<uint64_t>(*total, call.global.memory.used(call.thread.device));
        return cudaSuccess;
    });
}
