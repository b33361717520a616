// SPDX-License-Identifier: MIT
// Stands between a lesson's program and the CUDA runtime: keeps a list of the calls made, lets a
// chosen one fail, and can pretend another card or another clock. Works the same with the emulator
// and with NVIDIA's library, because the program's own definitions come before those of a shared
// library (ld.so(8), symbol lookup): cuda_calls.cpp *defines* the runtime's functions, for every
// lesson's program. What the files of a test share is in wb::of_test, whose names an answer may
// neither define nor use (refusals.py).
//
// Nothing is watched unless a wb::CallWatch is alive; the test's own buffers call the runtime too,
// so make them outside.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace wb {
inline namespace of_test {

// One call of the runtime: the stream it names (null: the default one) and the event, the memory
// that it frees, the bytes that it allocates, copies or sets, the blocks that it launches, and the
// device that managed memory is moved to.
struct CudaCall {
    std::string name;
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    const void* freed = nullptr;
    size_t bytes = 0;
    cudaMemcpyKind kind = cudaMemcpyDefault;
    dim3 grid{0, 0, 0};
    int device = cudaInvalidDeviceId;
};

// A clock that only moves when the test says so, for programs that measure with CUDA events.
struct EventClock {
    double now_ms = 0;
    // What the device takes for the launches, in order (the last one for all further ones), and for
    // each copy and each allocation.
    std::vector<double> launch_ms;
    double copy_ms = 0, allocation_ms = 0;
    size_t launches = 0;
    void pass(const CudaCall& call, bool is_launch) {
        if (is_launch && !launch_ms.empty())
            now_ms += launch_ms[launches < launch_ms.size() ? launches : launch_ms.size() - 1];
        launches += is_launch;
        if (call.name.find("Memcpy") != std::string::npos) now_ms += copy_ms;
        if (call.name.find("lloc") != std::string::npos) now_ms += allocation_ms;
    }
    struct Stamp {
        double ms = 0;
        cudaStream_t stream = nullptr;
        bool waited = false;  // the host has waited for this event since it was recorded
    };
    std::map<cudaEvent_t, Stamp> stamps;
};

// Watches the runtime while it lives. Only one at a time.
class CallWatch {
public:
    CallWatch() { current() = this; }
    ~CallWatch() { current() = nullptr; }
    CallWatch(const CallWatch&) = delete;
    CallWatch& operator=(const CallWatch&) = delete;

    // What happened so far.
    std::vector<CudaCall> calls;
    size_t count(const std::string& name) const {
        size_t found = 0;
        for (const CudaCall& call : calls) found += call.name == name;
        return found;
    }
    // Launches that were asked for, refused ones included.
    size_t launches() const {
        size_t found = 0;
        for (const CudaCall& call : calls) found += call.name.find("Launch") != std::string::npos;
        return found;
    }
    // Allocations of at least a byte that succeeded, and pointers other than null that were freed.
    size_t allocated = 0, freed = 0;
    // Bytes copied in one direction, as the calls name it.
    size_t copied(cudaMemcpyKind kind) const {
        size_t bytes = 0;
        for (const CudaCall& call : calls)
            if (call.kind == kind) bytes += call.bytes;
        return bytes;
    }
    bool launched = false;  // a kernel was launched and not refused

    // The call with this number (from 0) fails, without doing anything; a launch that fails
    // leaves its error for cudaGetLastError, as the runtime does.
    std::optional<size_t> fail_call;
    // The n-th call of this name (from 0) fails.
    std::string fail_name;
    size_t fail_nth = 0;
    // Each launch is refused.
    bool refuse_launches = false;
    cudaError_t error = cudaErrorInvalidConfiguration;
    // A launched kernel fails while it runs: what waits for it reports the error, from then on.
    bool fault_in_kernel = false;
    cudaError_t fault = cudaErrorIllegalAddress;

    // Every second question whether an event or a stream is done, from the first on, is answered by
    // cudaErrorNotReady, and nothing is asked: on a card the work takes its time.
    bool not_ready_at_first = false;
    bool ready(const void* event_or_stream) {
        const std::lock_guard lock(mutex_);
        bool& asked = asked_[event_or_stream];
        asked = !asked;
        return !not_ready_at_first || !asked;
    }

    // The card that the program sees: device `card_index` of `card_index` + 1.
    std::optional<cudaDeviceProp> card;
    int card_index = 0;
    // The blocks that fit on one of its multiprocessors, whatever the kernel.
    std::optional<int> blocks_that_fit;

    // Events take their time from here when set.
    EventClock* clock = nullptr;

    static CallWatch*& current() {
        static CallWatch* watch = nullptr;
        return watch;
    }

    // The error that this call ends with, or nothing when it may go on to the runtime.
    std::optional<cudaError_t> enter(CudaCall call, bool is_launch, bool waits) {
        const std::lock_guard lock(mutex_);  // a program may have a thread for each device
        const std::string name = call.name;
        const size_t number = calls.size(), nth = count(name);
        calls.push_back(call);
        if (fail_call == number || (!fail_name.empty() && fail_name == name && fail_nth == nth) ||
            (is_launch && refuse_launches)) {
            pending_ = error;
            return error;
        }
        if (pending_ && (name == "cudaGetLastError" || name == "cudaPeekAtLastError")) {
            const cudaError_t last = *pending_;
            if (name == "cudaGetLastError") pending_.reset();
            return last;
        }
        // Once it has been reported, the fault stays the last error.
        if (faulted_ && (name == "cudaGetLastError" || name == "cudaPeekAtLastError")) return fault;
        if (fault_in_kernel && launched && waits) {
            faulted_ = true;
            return fault;
        }
        if (call.bytes && name.find("lloc") != std::string::npos) ++allocated;
        if (call.freed) ++freed;
        if (clock) clock->pass(call, is_launch);
        if (is_launch) {
            launched = true;
            if (fault_in_kernel) return cudaSuccess;
        }
        return std::nullopt;
    }

private:
    std::mutex mutex_;
    std::optional<cudaError_t> pending_;
    std::map<const void*, bool> asked_;
    bool faulted_ = false;  // somebody has waited for the kernel that fails
};

}  // namespace of_test
}  // namespace wb
