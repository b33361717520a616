// SPDX-License-Identifier: MIT
// Streams and events behind cudaStream_t and cudaEvent_t. Work runs at once, in the order of the
// calls, so a stream only carries identity, and the hook that graph capture puts into it.
#pragma once

#include <chrono>
#include <functional>

#include "runtime/api.h"

namespace runtime {

// One piece of stream-ordered work, as a graph node would hold it.
struct Work {
    enum class Kind : uint8_t {
        kKernel,
        kCopy,
        kFill,
        kHost,
        kRecord,
        kWait,
        kAllocate,
        kFree
    } kind;
    const char* api;
    std::function<cudaError_t(Call&, Stream&)> run;  // may be called many times
    Event* event = nullptr;                          // kRecord, kWait
    void* pointer = nullptr;                         // kAllocate, kFree
};

// While a stream captures, work goes here and is not run.
class Capture {
public:
    virtual ~Capture() = default;
    virtual cudaError_t add(Stream& stream, Work work) = 0;
    // Began in another mode than cudaStreamCaptureModeGlobal: it asks nothing of other threads.
    bool of_its_thread_only = false;
    const ThreadState* thread = nullptr;  // that began it
};

struct Stream {
    uint64_t id = 0;  // as events name it; 0 is the legacy default stream
    int device = 0;
    unsigned flags = 0;
    int priority = 0;
    Capture* capture = nullptr;  // not owned
    std::map<int, cudaLaunchAttributeValue> attributes;
    bool non_blocking() const { return flags & cudaStreamNonBlocking; }
};

struct Event {
    uint64_t id = 0;
    int device = 0;
    unsigned flags = 0;
    bool recorded = false;
    uint64_t stream = 0;
    std::chrono::steady_clock::time_point time{};
    Capture* capture = nullptr;  // was last recorded in a capturing stream
};

// The stream behind a handle of the calling thread's current device; null when it is not a live
// stream. `per_thread`: the _ptsz/_ptds spelling, where 0 means cudaStreamPerThread.
Stream* find_stream(Call& call, cudaStream_t handle, bool per_thread);
cudaStream_t handle_of(Stream* stream);
Event* find_event(cudaEvent_t handle);

// Runs `work` now, or hands it to the capture that `handle` is part of.
cudaError_t submit(Call& call, cudaStream_t handle, bool per_thread, Work work);
cudaError_t submit(Call& call, Stream& stream, Work work);

// Fires the event that the host has waited for all work of the stream.
void host_waited(Call& call, const Stream& stream);
// Some stream is being captured so that the calling thread may not wait for everything: not the
// non-blocking stream of a thread that keeps its capture to itself, which the legacy default stream
// has nothing to do with (CUDA Runtime API, "cudaThreadExchangeStreamCaptureMode").
bool any_capture(Call& call);

}  // namespace runtime
