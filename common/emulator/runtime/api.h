// SPDX-License-Identifier: MIT
// The frame round every API function: takes the lock, returns a pending device fault, stops C++
// exceptions, and remembers a failure as the thread's last error.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "runtime/context.h"
#include "runtime/host_pages.h"

namespace runtime {

enum ApiFlags : unsigned {
    kPlain = 0,
    kIgnoresFault = 1,  // does its work even when a kernel of this device has faulted before
    kSynchronises = 2,  // returns errors of earlier launches: a program that calls it has been told
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
    machine::HostSite site();  // of the calling line; taken on first use

    // Fires on_api, and returns `error` for convenience.
    cudaError_t misuse(machine::ApiEvent::Kind kind, cudaError_t error, std::string message,
                       uint64_t address = 0, const machine::Allocation* allocation = nullptr,
                       machine::HostSite other = 0, std::string kernel = {});

    // A finding has been made of what this call did: that its error is dropped is not another one.
    void told() { told_ = true; }

    // Runs user code without the lock; `host_function`: it must not call the API.
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

    // The runtime API works in the device's primary context from now on, if in none yet.
    void bind();

    cudaError_t enter();
    cudaError_t leave(cudaError_t error);
    cudaError_t failed(const char* what);  // an exception reached the boundary: our own fault

private:
    std::unique_lock<std::recursive_mutex> lock_;
    const unsigned flags_;
    machine::HostSite site_ = 0;
    bool site_taken_ = false;
    bool told_ = false;
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
