// SPDX-License-Identifier: MIT
// Contexts: each thread's stack, contexts that programs create, and the primary context of each
// device, which the runtime API uses. All contexts of a device share its memory.
#include <algorithm>

#include "driver/frame.h"

namespace driver {

using runtime::DriverContext;
using runtime::ThreadState;

DriverContext* current_context() {
    const ThreadState& thread = runtime::thread_state();
    if (!thread.contexts.empty()) return thread.contexts.back();
    return thread.bound ? runtime::context().devices[size_t(thread.device)].primary : nullptr;
}

DriverContext* find_context(CUcontext handle) {
    runtime::Context& all = runtime::context();
    const std::lock_guard lock(all.mutex);
    for (const auto& known : all.driver_contexts)
        if (handle_of(known.get()) == handle && known->live) return known.get();
    return nullptr;
}

namespace {

// The stack, with the runtime's implicit context made explicit.
std::vector<DriverContext*>& stack_of(ThreadState& thread) {
    if (thread.contexts.empty() && thread.bound) thread.contexts.push_back(current_context());
    return thread.contexts;
}

// The current context determines the thread's device.
void follow(ThreadState& thread) {
    if (!thread.contexts.empty()) thread.device = thread.contexts.back()->device;
    thread.bound = false;
}

CUresult push(DriverContext* context) {
    const std::lock_guard lock(runtime::context().mutex);
    ThreadState& thread = runtime::thread_state();
    stack_of(thread).push_back(context);
    if (context->primary) context->active = true;
    follow(thread);
    return CUDA_SUCCESS;
}

CUresult pop(CUcontext* popped) {
    ThreadState& thread = runtime::thread_state();
    auto& stack = stack_of(thread);
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (popped) *popped = handle_of(stack.back());
    stack.pop_back();
    follow(thread);
    return CUDA_SUCCESS;
}

CUresult create(CUcontext* result, unsigned flags, CUdevice device) {
    if (!result || (flags & ~unsigned(CU_CTX_FLAGS_MASK))) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    runtime::Context& all = runtime::context();
    DriverContext* made = nullptr;
    {
        const std::lock_guard lock(all.mutex);
        all.driver_contexts.push_back(std::make_unique<DriverContext>());
        made = all.driver_contexts.back().get();
        made->id = all.driver_contexts.size();
        made->device = device;
        made->flags = flags;
    }
    *result = handle_of(made);
    return push(made);
}

// A kernel that faulted destroys its context; a later context starts without the fault.
CUresult destroy(CUcontext handle) {
    DriverContext* context = find_context(handle);
    if (!context || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    ThreadState& thread = runtime::thread_state();
    if (!thread.contexts.empty() && thread.contexts.back() == context) pop(nullptr);
    const std::lock_guard lock(runtime::context().mutex);
    context->live = false;
    runtime::context().devices[size_t(context->device)].fault = cudaSuccess;
    return CUDA_SUCCESS;
}

// Runs body(context) for a live context; null means the current one.
template <class F>
CUresult with_context(const char* name, CUcontext handle, F&& body) {
    return run(name, handle ? Needs::kInit : Needs::kContext, [&]() -> CUresult {
        DriverContext* context = handle ? find_context(handle) : current_context();
        const std::lock_guard lock(runtime::context().mutex);
        return context ? result_of(body(*context)) : CUDA_ERROR_INVALID_CONTEXT;
    });
}

template <class F>
CUresult with_device(const char* name, CUdevice device, F&& body) {
    return run(name, Needs::kInit, [&]() -> CUresult {
        if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
        const std::lock_guard lock(runtime::context().mutex);
        return result_of(body(*runtime::context().devices[size_t(device)].primary));
    });
}

}  // namespace
}  // namespace driver

using namespace driver;

DRIVER_API CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
    return run("cuCtxCreate", Needs::kInit, [&] { return create(context, flags, device); });
}
DRIVER_API CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int affinities,
                                   unsigned flags, CUdevice device) {
    return run("cuCtxCreate", Needs::kInit, [&] {
        return affinities ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(context, flags, device);
    });
}
DRIVER_API CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* given, unsigned flags,
                                   CUdevice device) {
    return run("cuCtxCreate", Needs::kInit, [&] {
        if (given && given->numExecAffinityParams) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
        if (given && given->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
        return create(context, flags, device);
    });
}
DRIVER_API CUresult cuCtxDestroy_v2(CUcontext context) {
    return run("cuCtxDestroy", Needs::kInit, [&] { return destroy(context); });
}
// Deprecated, and still used by PyCUDA: a context without cuCtxAttach has one user.
DRIVER_API CUresult cuCtxDetach(CUcontext context) {
    return run("cuCtxDetach", Needs::kInit, [&] { return destroy(context); });
}
DRIVER_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return with_context(
        "cuCtxPushCurrent", context, [](DriverContext& found) { return push(&found); });
}
DRIVER_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
    return run("cuCtxPopCurrent", Needs::kInit, [&] { return pop(context); });
}
// Replaces the top of the stack; null removes it.
DRIVER_API CUresult cuCtxSetCurrent(CUcontext handle) {
    return run("cuCtxSetCurrent", Needs::kInit, [&]() -> CUresult {
        DriverContext* context = handle ? find_context(handle) : nullptr;
        if (handle && !context) return CUDA_ERROR_INVALID_CONTEXT;
        if (current_context()) pop(nullptr);
        return context ? push(context) : CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuCtxGetCurrent(CUcontext* context) {
    return run("cuCtxGetCurrent", Needs::kInit, [&] {
        if (!context) return CUDA_ERROR_INVALID_VALUE;
        *context = handle_of(current_context());
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuCtxGetDevice(CUdevice* device) {
    return run("cuCtxGetDevice", [&] {
        if (!device) return CUDA_ERROR_INVALID_VALUE;
        *device = current_context()->device;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
    return with_context("cuCtxGetDevice", handle, [&](DriverContext& context) {
        if (!device) return CUDA_ERROR_INVALID_VALUE;
        *device = context.device;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuCtxGetFlags(unsigned* flags) {
    return run("cuCtxGetFlags", [&] {
        if (!flags) return CUDA_ERROR_INVALID_VALUE;
        *flags = current_context()->flags;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuCtxSetFlags(unsigned flags) {
    return run("cuCtxSetFlags", [&] {
        if (flags & ~unsigned(CU_CTX_FLAGS_MASK)) return CUDA_ERROR_INVALID_VALUE;
        const std::lock_guard lock(runtime::context().mutex);
        current_context()->flags = flags;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
    return with_context("cuCtxGetId", handle, [&](DriverContext& context) {
        if (!id) return CUDA_ERROR_INVALID_VALUE;
        *id = context.id;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
    return with_context("cuCtxGetApiVersion", handle, [&](DriverContext&) {
        if (!version) return CUDA_ERROR_INVALID_VALUE;
        *version = 3020;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuCtxSynchronize() {
    return run("cuCtxSynchronize", [] { return cudaDeviceSynchronize(); });
}
DRIVER_API CUresult cuCtxSynchronize_v2(CUcontext handle) {
    return with_context("cuCtxSynchronize", handle, [](DriverContext& context) {
        return on_device(context.device, [] { return cudaDeviceSynchronize(); });
    });
}
DRIVER_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    return run("cuCtxSetLimit", [&] { return cudaDeviceSetLimit(cudaLimit(limit), value); });
}
DRIVER_API CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
    return run("cuCtxGetLimit", [&] { return cudaDeviceGetLimit(value, cudaLimit(limit)); });
}
DRIVER_API CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
    return run("cuCtxGetCacheConfig",
               [&] { return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)); });
}
DRIVER_API CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    return run("cuCtxSetCacheConfig",
               [&] { return cudaDeviceSetCacheConfig(cudaFuncCache(config)); });
}
DRIVER_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return run("cuCtxGetStreamPriorityRange",
               [&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
DRIVER_API CUresult cuCtxResetPersistingL2Cache() {
    return run("cuCtxResetPersistingL2Cache", [] { return cudaCtxResetPersistingL2Cache(); });
}
DRIVER_API CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
    return run("cuCtxEnablePeerAccess", [&]() -> CUresult {
        const DriverContext* peer = find_context(handle);
        if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
        return result_of(cudaDeviceEnablePeerAccess(peer->device, flags));
    });
}
DRIVER_API CUresult cuCtxDisablePeerAccess(CUcontext handle) {
    return run("cuCtxDisablePeerAccess", [&]() -> CUresult {
        const DriverContext* peer = find_context(handle);
        if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
        return result_of(cudaDeviceDisablePeerAccess(peer->device));
    });
}

DRIVER_API CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice device) {
    return with_device("cuDevicePrimaryCtxRetain", device, [&](DriverContext& primary) {
        if (!result) return CUDA_ERROR_INVALID_VALUE;
        ++primary.retained;
        primary.active = true;
        *result = handle_of(&primary);
        return CUDA_SUCCESS;
    });
}

DRIVER_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return with_device("cuDevicePrimaryCtxRelease", device, [](DriverContext& primary) {
        if (!primary.retained) return CUDA_ERROR_INVALID_CONTEXT;
        if (--primary.retained == 0) primary.active = false;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    return with_device("cuDevicePrimaryCtxReset", device, [&](DriverContext& primary) {
        const cudaError_t error = on_device(device, [] { return cudaDeviceReset(); });
        primary.active = primary.retained != 0;
        return error;
    });
}
DRIVER_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    return with_device("cuDevicePrimaryCtxSetFlags", device, [&](DriverContext& primary) {
        if (flags & ~unsigned(CU_CTX_FLAGS_MASK)) return CUDA_ERROR_INVALID_VALUE;
        primary.flags = flags;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
    return with_device("cuDevicePrimaryCtxGetState", device, [&](DriverContext& primary) {
        if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
        *flags = primary.flags;
        *active = primary.active;
        return CUDA_SUCCESS;
    });
}
