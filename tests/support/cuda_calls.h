// SPDX-License-Identifier: MIT
// Stands between a lesson's program and the CUDA runtime: keeps a list of the calls made, lets a
// chosen one fail, and can pretend another card or another clock. Works the same with the emulator
// and with NVIDIA's library, because the program's own definitions come before those of a shared
// library (ld.so(8), symbol lookup). It *defines* the runtime's functions, weakly: the linker keeps
// one definition of each, so that several files of a test may include it and share one watch. What
// they share is in wb::of_test, whose names an answer may neither define nor use (refusals.py).
//
// Nothing is watched unless a wb::CallWatch is alive; the test's own buffers call the runtime too,
// so make them outside.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <dlfcn.h>

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

    // The card that the program is told about: device `card_index` of `card_index` + 1.
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
        // Once it has been reported, the fault stays the last error, whoever asks.
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

namespace calls_detail {

template <class F>
F* real(const char* name, F*) {
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

inline std::optional<cudaError_t> enter(const CudaCall& call, bool is_launch = false,
                                        bool waits = false) {
    CallWatch* watch = CallWatch::current();
    return watch ? watch->enter(call, is_launch, waits) : std::nullopt;
}

inline EventClock* clock() {
    return CallWatch::current() ? CallWatch::current()->clock : nullptr;
}

// Whether a question about an event or a stream is asked of the runtime.
inline bool ready(const void* event_or_stream) {
    CallWatch* watch = CallWatch::current();
    return !watch || watch->ready(event_or_stream);
}

inline void waited_for_all() {
    if (EventClock* fake = clock())
        for (auto& [event, stamp] : fake->stamps) stamp.waited = true;
}

// Waiting for an event waits for all that lies in its stream in front of it.
inline void waited_for(cudaEvent_t event) {
    EventClock* fake = clock();
    if (!fake) return;
    const auto upto = fake->stamps.find(event);
    if (upto == fake->stamps.end()) return;
    for (auto& [other, stamp] : fake->stamps)
        if (other == event || (stamp.stream == upto->second.stream && stamp.ms <= upto->second.ms))
            stamp.waited = true;
}

}  // namespace calls_detail
}  // namespace of_test
}  // namespace wb

// A jump instead of a call at the end: the emulator then blames the caller's line, not this file.
#define WB_RUNTIME extern "C" __attribute__((weak, optimize("O2"))) cudaError_t
#define WB_ENTER(...)                                                                              \
    if (const auto result = wb::calls_detail::enter(__VA_ARGS__)) return *result
// In two steps, so that a name which CUDA's headers replace (cudaGetDeviceProperties_v2) is looked
// up as replaced.
#define WB_REAL_OF(name) wb::calls_detail::real(#name, static_cast<Function*>(nullptr))
#define WB_REAL(name) WB_REAL_OF(name)

// A function: name, parameters in brackets, arguments in brackets, and the CudaCall to write down.
#define WB_CALL(function, parameters, arguments, ...)                                              \
    WB_RUNTIME function parameters {                                                               \
        using Function = cudaError_t parameters;                                                   \
        WB_ENTER({.name = #function __VA_OPT__(, ) __VA_ARGS__});                                  \
        return WB_REAL(function) arguments;                                                        \
    }
// One that waits until the device has done what it was told before.
#define WB_WAITS(function, parameters, arguments, ...)                                             \
    WB_RUNTIME function parameters {                                                               \
        using Function = cudaError_t parameters;                                                   \
        WB_ENTER({.name = #function __VA_OPT__(, ) __VA_ARGS__}, false, true);                     \
        wb::calls_detail::waited_for_all();                                                        \
        return WB_REAL(function) arguments;                                                        \
    }
#define WB_LAUNCH(function, parameters, arguments, stream_, grid_)                                 \
    WB_RUNTIME function parameters {                                                               \
        using Function = cudaError_t parameters;                                                   \
        WB_ENTER({.name = #function, .stream = stream_, .grid = grid_}, true);                     \
        return WB_REAL(function) arguments;                                                        \
    }

WB_CALL(cudaMalloc, (void** data, size_t bytes), (data, bytes), .bytes = bytes)
WB_CALL(cudaMallocHost, (void** data, size_t bytes), (data, bytes), .bytes = bytes)
WB_CALL(cudaHostAlloc, (void** data, size_t bytes, unsigned flags), (data, bytes, flags),
        .bytes = bytes)
WB_CALL(cudaHostRegister, (void* data, size_t bytes, unsigned flags), (data, bytes, flags),
        .bytes = bytes)
WB_CALL(cudaMallocManaged, (void** data, size_t bytes, unsigned flags), (data, bytes, flags),
        .bytes = bytes)
WB_CALL(cudaMallocAsync, (void** data, size_t bytes, cudaStream_t stream), (data, bytes, stream),
        .stream = stream, .bytes = bytes)
WB_CALL(cudaFreeHost, (void* data), (data), .freed = data)
WB_CALL(cudaFreeAsync, (void* data, cudaStream_t stream), (data, stream), .stream = stream,
        .freed = data)
WB_WAITS(cudaFree, (void* data), (data), .freed = data)
WB_WAITS(cudaMemcpy, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
         (to, from, bytes, kind), .bytes = bytes, .kind = kind)
WB_CALL(cudaMemcpyAsync,
        (void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
        (to, from, bytes, kind, stream), .stream = stream, .bytes = bytes, .kind = kind)
WB_CALL(cudaMemcpyPeerAsync,
        (void* to, int to_device, const void* from, int from_device, size_t bytes,
         cudaStream_t stream),
        (to, to_device, from, from_device, bytes, stream), .stream = stream, .bytes = bytes,
        .kind = cudaMemcpyDeviceToDevice)
WB_WAITS(cudaMemcpyToSymbol,
         (const void* to, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind),
         (to, from, bytes, offset, kind), .bytes = bytes, .kind = kind)
WB_CALL(cudaMemcpyToSymbolAsync,
        (const void* to, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
         cudaStream_t stream),
        (to, from, bytes, offset, kind, stream), .stream = stream, .bytes = bytes, .kind = kind)
WB_CALL(cudaGetSymbolAddress, (void** address, const void* symbol), (address, symbol))
WB_CALL(cudaMemset, (void* data, int value, size_t bytes), (data, value, bytes))
WB_CALL(cudaMemsetAsync, (void* data, int value, size_t bytes, cudaStream_t stream),
        (data, value, bytes, stream), .stream = stream)
WB_WAITS(cudaDeviceSynchronize, (), ())
WB_WAITS(cudaStreamSynchronize, (cudaStream_t stream), (stream), .stream = stream)
WB_CALL(cudaStreamCreate, (cudaStream_t * stream), (stream))
WB_CALL(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags))
WB_CALL(cudaStreamDestroy, (cudaStream_t stream), (stream), .stream = stream)
WB_CALL(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
        (stream, event, flags), .stream = stream, .event = event)
WB_CALL(cudaGetLastError, (), ())
WB_CALL(cudaPeekAtLastError, (), ())
WB_CALL(cudaSetDevice, (int device), (device))
WB_CALL(cudaRuntimeGetVersion, (int* version), (version))
WB_CALL(cudaDriverGetVersion, (int* version), (version))
WB_CALL(cudaEventCreate, (cudaEvent_t * event), (event))
WB_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))
WB_LAUNCH(cudaLaunchKernel,
          (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
           cudaStream_t stream),
          (kernel, grid, block, arguments, shared, stream), stream, grid)
WB_LAUNCH(__cudaLaunchKernel,  // what <<<>>> calls since CUDA 13
          (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
           cudaStream_t stream),
          (kernel, grid, block, arguments, shared, stream), stream, grid)
WB_LAUNCH(cudaLaunchCooperativeKernel,
          (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
           cudaStream_t stream),
          (kernel, grid, block, arguments, shared, stream), stream, grid)
WB_LAUNCH(cudaLaunchKernelExC,
          (const cudaLaunchConfig_t* config, const void* kernel, void** arguments),
          (config, kernel, arguments), config->stream, config->gridDim)

#include "card_calls.h"
#include "event_calls.h"
#include "graph_calls.h"
#include "pool_calls.h"

#undef WB_RUNTIME
#undef WB_ENTER
#undef WB_REAL
#undef WB_REAL_OF
#undef WB_CALL
#undef WB_WAITS
#undef WB_LAUNCH
