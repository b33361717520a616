// SPDX-License-Identifier: MIT
// The runtime's functions as cuda_calls.h watches them, compiled once for the programs of all
// lessons.
#include "cuda_calls.h"

#include <dlfcn.h>

namespace wb {
inline namespace of_test {

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
#define WB_RUNTIME extern "C" __attribute__((optimize("O2"))) cudaError_t
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
// A call that waits until the device has finished all earlier work.
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
