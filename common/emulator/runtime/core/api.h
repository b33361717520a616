// SPDX-License-Identifier: MIT
// The frame of every API function: takes the lock, returns a pending device fault, stops C++
// exceptions, and stores a failure as the thread's last error.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "runtime/core/context.h"
#include "runtime/host_watch/host_pages.h"
#include "runtime/host_watch/script_lines.h"

namespace runtime {

enum ApiFlags : unsigned {
    kPlain = 0,
    kIgnoresFault = 1,  // works even after a kernel of this device has faulted
    kSynchronises = 2,  // returns errors of earlier launches, so the program has received them
};

// One running API call.
class Call {
public:
    Call(const char* name, unsigned flags);
    ~Call() { leave_host_pages(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    const char* const name;
    Context& global;
    ThreadState& thread;
    Device& device() { return global.devices[size_t(thread.device)]; }
    machine::HostSite site();  // of the calling line; captured on first use

    // Fires on_api, and returns `error` for convenience.
    using Reason = machine::ApiEvent::Reason;
    cudaError_t misuse(machine::ApiEvent::Kind kind, Reason reason, cudaError_t error,
                       std::string message, uint64_t address = 0,
                       const machine::Allocation* allocation = nullptr, machine::HostSite other = 0,
                       std::string kernel = {});

    // This call has been reported: ignoring its error is not a second finding.
    void mark_reported() { reported_ = true; }

    // Runs user code without holding the lock. `host_function`: it must not call the API.
    template <class F>
    void unlocked(F&& function, bool host_function = false) {
        const char* const driver_call = std::exchange(thread.driver_call, nullptr);
        const bool per_thread = std::exchange(thread.per_thread_default, false);
        const bool in_host_function = std::exchange(thread.in_host_function, host_function);
        const int calls = suspend_host_pages();
        lock_.unlock();
        function();
        lock_.lock();
        resume_host_pages(calls);
        thread.driver_call = driver_call;
        thread.per_thread_default = per_thread;
        thread.in_host_function = in_host_function;
    }

    // If the thread has no context yet, the device's primary context becomes current.
    void bind();

    cudaError_t enter();
    cudaError_t leave(cudaError_t error);
    cudaError_t failed(const char* what);  // an uncaught exception: the emulator's fault

private:
    const ScriptCall script_;  // before the lock
    std::unique_lock<std::recursive_mutex> lock_;
    const unsigned flags_;
    machine::HostSite site_ = 0;
    bool site_taken_ = false;
    bool reported_ = false;
};

template <class F>
cudaError_t api(const char* name, unsigned flags, F&& body) {
    Call call(name, flags);
    cudaError_t error = call.enter();
    if (error == cudaSuccess) {
        try {
            error = body(call);
        } catch (const std::bad_alloc&) {
            error = cudaErrorMemoryAllocation;
        } catch (const std::exception& exception) {
            error = call.failed(exception.what());
        }
    }
    return call.leave(error);
}
template <class F>
cudaError_t api(const char* name, F&& body) {
    return api(name, kPlain, static_cast<F&&>(body));
}

}  // namespace runtime
