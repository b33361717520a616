// SPDX-License-Identifier: MIT
// The streams and events of cudaStream_t and cudaEvent_t. Work runs at once, in the order of the
// calls, so a stream is only an identity and a hook for graph capture.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "runtime/core/api.h"

namespace runtime {

struct Launch;

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
    std::shared_ptr<const Launch> launch = {};       // kKernel, for queries of the captured node
};

// While a stream captures, its work is added here and not run.
class Capture {
public:
    virtual ~Capture() = default;
    virtual cudaError_t add(Stream& stream, Work work) = 0;
    // A call was refused that no capture permits: the capture ends with an error.
    virtual void invalidate() = 0;
    // Not started with cudaStreamCaptureModeGlobal: other threads are not restricted.
    bool of_its_thread_only = false;
    // Started with cudaStreamCaptureModeRelaxed: its own thread is not restricted either.
    bool relaxed = false;
    const ThreadState* thread = nullptr;  // the thread that began it
};

struct Stream {
    uint64_t id = 0;  // identifies it in events; 0 is the legacy default stream
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
    Capture* capture = nullptr;  // last recorded in a capturing stream
    // Other processes have, or may have, an event of the same file (ipc.h). Of an `imported` one,
    // another process is the owner.
    int shared_file = -1;
    uint64_t shared_serial = 0;
    bool imported = false;
};

// While one of these exists, stream 0 of this thread means cudaStreamPerThread: for the generated
// _ptsz and _ptds spellings of functions, which programs call that are compiled with
// `--default-stream per-thread`.
class PerThreadDefault {
public:
    PerThreadDefault();
    ~PerThreadDefault();
    PerThreadDefault(const PerThreadDefault&) = delete;
    PerThreadDefault& operator=(const PerThreadDefault&) = delete;

private:
    const bool outer_;
};

// The stream of a handle for the calling thread's current device; null if it is not a live stream.
Stream* find_stream(Call& call, cudaStream_t handle);
cudaStream_t handle_of(Stream* stream);
// Null also for an event of another process that has destroyed it, or has ended.
Event* find_event(cudaEvent_t handle);
// An event that other processes can wait for has been recorded. They may then signal this process
// in ways that no event shows, so the host counts as having waited for it.
void known_elsewhere(Call& call, const Event& event);
// No process uses the event any more by way of this one.
void stop_sharing(Event& event);

// Runs `work` now, or adds it to the capture that `handle` is part of.
cudaError_t submit(Call& call, cudaStream_t handle, Work work);
cudaError_t submit(Call& call, Stream& stream, Work work);

// Fires the event that the host has waited for all work of the stream; `staged`: but for the copy
// that the call made, see machine::HostAccess::staged().
void host_waited(Call& call, const Stream& stream, bool staged = false);
// Whether a stream is being captured in a way that prevents the calling thread from waiting for
// everything: the call is refused then, and all these captures are invalidated. A non-blocking
// stream that another thread captures in its own mode does not, since the legacy default stream
// does not synchronise with it (CUDA Runtime API, "cudaThreadExchangeStreamCaptureMode").
bool invalidate_captures(Call& call);
// The same for calls that may be unsafe in a capture, such as cudaMalloc, by the rules of
// cudaThreadExchangeStreamCaptureMode; an H200 refuses cudaMalloc so.
bool refuses_unsafe_call(Call& call);

}  // namespace runtime
