// SPDX-License-Identifier: MIT
// Memory and events of other processes. The work of a stream is done when the call that queues it
// returns. So an event that another process has recorded is complete, and no call has to wait.
#include "runtime/core/ipc.h"

#include <cerrno>

#include "machine/shared_file.h"
#include "runtime/core/free_memory.h"

using namespace runtime;
using machine::Allocation;

namespace {

// A call that shares memory or events: refused in a graded lesson.
template <class F>
cudaError_t ipc(const char* name, unsigned flags, F&& body) {
    return api(name, flags, [&](Call& call) -> cudaError_t {
        if (!call.global.settings.ipc) {
            warn_once(std::string(call.name) + " is not supported in a graded lesson");
            return cudaErrorNotSupported;
        }
        return body(call);
    });
}

// The CUDA error for the system's error when a file could not be made.
cudaError_t making_failed() {
    return errno == ENOSYS || errno == EPERM || errno == EACCES ? cudaErrorNotSupported
                                                                : cudaErrorMemoryAllocation;
}

cudaError_t get_memory(Call& call, cudaIpcMemHandle_t* result, void* pointer) {
    if (!result || !pointer) return cudaErrorInvalidValue;
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    Allocation* found = call.global.memory.find(address);
    // A pointer into the allocation gives the handle of all of it, as drivers do.
    if (!found || !found->live || !found->contains(address, 1) || !is_exportable(*found))
        return cudaErrorInvalidValue;
    IpcHandle handle = new_ipc_handle(IpcHandle::Kind::kMemory, found->bytes);
    if (found->shared_file < 0) {
        if (!call.global.memory.share(*found, handle.serial, handle.file_name()))
            return making_failed();
        for (machine::Observer* observer : call.global.observers.memory) observer->on_share(*found);
    }
    handle.serial = found->shared_serial;
    handle.file = found->shared_file;
    handle.write(result->reserved);
    return cudaSuccess;
}

// The memory of a handle that the current device has opened already; null if it has not.
Allocation* opened_before(Call& call, const IpcHandle& handle) {
    machine::Memory& memory = call.global.memory;
    for (uint32_t id = 0; memory.shares() && id < memory.count(); ++id) {
        Allocation& allocation = memory.by_id(id);
        if (allocation.live && allocation.imported && allocation.shared_serial == handle.serial &&
            allocation.device == call.thread.device)
            return &allocation;
    }
    return nullptr;
}

cudaError_t open_memory(Call& call, void** result, const cudaIpcMemHandle_t& given,
                        unsigned flags) {
    IpcHandle handle;
    if (!result || flags != cudaIpcMemLazyEnablePeerAccess ||
        !handle.read(given.reserved, IpcHandle::Kind::kMemory))
        return cudaErrorInvalidValue;
    Allocation* memory = opened_before(call, handle);
    if (memory) {
        ++memory->opened;
    } else {
        int file = -1;
        if (const cudaError_t error = open_ipc_handle(handle, file)) {
            // Of memory that has been freed: as measured on an H100.
            return error == cudaErrorInvalidResourceHandle ? cudaErrorInvalidValue : error;
        }
        // Refused while the owner frees the memory.
        if (!machine::use_shared_file(file, machine::FileUse::kShared)) {
            machine::close_shared_file(file);
            return cudaErrorInvalidValue;
        }
        memory = call.global.memory.import(
            file, handle.serial, handle.bytes, call.thread.device, call.site());
        if (!memory) return cudaErrorMapBufferObjectFailed;
        call.global.fire_alloc(*memory);
    }
    *result = reinterpret_cast<void*>(memory->address);
    return cudaSuccess;
}

cudaError_t close_memory(Call& call, void* pointer) {
    if (!pointer) return cudaErrorInvalidValue;
    const Allocation* found = call.global.memory.find(reinterpret_cast<uint64_t>(pointer));
    if (found && found->live && found->imported && found->opened > 1 &&
        found->address == reinterpret_cast<uint64_t>(pointer)) {
        --call.global.memory.by_id(found->id).opened;
        return cudaSuccess;
    }
    return free_memory(call,
                       pointer,
                       {[](const Allocation& allocation) { return allocation.imported; },
                        "closes",
                        "memory that `cudaIpcOpenMemHandle` has opened"});
}

cudaError_t get_event(Call& call, cudaIpcEventHandle_t* result, cudaEvent_t given) {
    if (!result || !given) return cudaErrorInvalidValue;
    Event* event = find_event(given);
    if (!event || event->imported || !(event->flags & cudaEventInterprocess))
        return cudaErrorInvalidResourceHandle;
    IpcHandle handle = new_ipc_handle(IpcHandle::Kind::kEvent, 0);
    if (event->shared_file < 0) {
        const int file = machine::make_shared_file(handle.file_name(), handle.file_bytes());
        if (file < 0) return making_failed();
        if (!machine::use_shared_file(file, machine::FileUse::kAlone)) {
            machine::close_shared_file(file);
            return cudaErrorNotSupported;
        }
        event->shared_file = file;
        event->shared_serial = handle.serial;
        if (event->recorded) known_elsewhere(call, *event);
    }
    handle.serial = event->shared_serial;
    handle.file = event->shared_file;
    handle.write(result->reserved);
    return cudaSuccess;
}

cudaError_t open_event(Call& call, cudaEvent_t* result, const cudaIpcEventHandle_t& given) {
    IpcHandle handle;
    if (!result || !handle.read(given.reserved, IpcHandle::Kind::kEvent))
        return cudaErrorInvalidValue;
    int file = -1;
    if (const cudaError_t error = open_ipc_handle(handle, file)) return error;
    auto* event = new Event;
    event->id = call.global.next_event++;
    event->device = call.thread.device;
    event->flags = cudaEventDisableTiming | cudaEventInterprocess;
    event->imported = true;
    event->shared_file = file;
    event->shared_serial = handle.serial;
    call.global.events.insert(event);
    *result = reinterpret_cast<cudaEvent_t>(event);
    return cudaSuccess;
}

}  // namespace

EMULATOR_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
    return ipc("cudaIpcGetMemHandle", kPlain, [&](Call& call) {
        return get_memory(call, handle, pointer);
    });
}

EMULATOR_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle,
                                              unsigned flags) {
    return ipc("cudaIpcOpenMemHandle", kPlain, [&](Call& call) {
        return open_memory(call, pointer, handle, flags);
    });
}

// Closes even after a fault, so that no leak is reported as well.
EMULATOR_API cudaError_t cudaIpcCloseMemHandle(void* pointer) {
    return ipc("cudaIpcCloseMemHandle", kIgnoresFault, [&](Call& call) {
        call.bind();
        const cudaError_t error = close_memory(call, pointer);
        return call.device().fault != cudaSuccess ? call.device().fault : error;
    });
}

EMULATOR_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
    return ipc("cudaIpcGetEventHandle", kPlain, [&](Call& call) {
        return get_event(call, handle, event);
    });
}

EMULATOR_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
    return ipc("cudaIpcOpenEventHandle", kPlain, [&](Call& call) {
        return open_event(call, event, handle);
    });
}
