// SPDX-License-Identifier: MIT
// Finds streams and events by handle, and runs or captures work.
#include "runtime/core/stream.h"

#include "machine/shared_file.h"
#include "runtime/core/pools.h"

namespace runtime {

cudaStream_t handle_of(Stream* stream) {
    return reinterpret_cast<cudaStream_t>(stream);
}

static Stream* per_thread_stream(Call& call) {
    Stream*& stream = call.thread.default_streams[call.thread.device];
    if (!stream) {
        stream = new Stream;  // lives as long as the process
        stream->id = call.global.next_stream++;
        stream->device = call.thread.device;
        machine::OrderEvent event{machine::OrderEvent::Kind::kStreamCreate};
        event.stream = stream->id;
        event.device = stream->device;
        call.global.fire(event);
    }
    return stream;
}

PerThreadDefault::PerThreadDefault()
    : outer_(std::exchange(thread_state().per_thread_default, true)) {}
PerThreadDefault::~PerThreadDefault() {
    thread_state().per_thread_default = outer_;
}

Stream* find_stream(Call& call, cudaStream_t handle) {
    if (handle == cudaStreamPerThread || (!handle && call.thread.per_thread_default))
        return per_thread_stream(call);
    if (!handle || handle == cudaStreamLegacy) return call.device().default_stream;
    Stream* stream = reinterpret_cast<Stream*>(handle);
    return call.global.streams.contains(stream) ? stream : nullptr;
}

Event* find_event(cudaEvent_t handle) {
    Event* event = reinterpret_cast<Event*>(handle);
    if (!context().events.contains(event)) return nullptr;
    // No other process can use the file as long as its owner has the event.
    const bool ownerless = event->imported && event->shared_file >= 0 &&
                           machine::use_shared_file(event->shared_file, machine::FileUse::kShared);
    return ownerless ? nullptr : event;
}

void known_elsewhere(Call& call, const Event& event) {
    machine::OrderEvent order{machine::OrderEvent::Kind::kEventSync};
    order.stream = event.stream;
    order.event = event.id;
    order.device = event.device;
    order.site = call.site();
    call.global.fire(order);
}

void stop_sharing(Event& event) {
    if (event.shared_file >= 0) machine::close_shared_file(event.shared_file);
    event.shared_file = -1;
}

cudaError_t submit(Call& call, Stream& stream, Work work) {
    if (stream.capture) return stream.capture->add(stream, std::move(work));
    return work.run(call, stream);
}

cudaError_t submit(Call& call, cudaStream_t handle, Work work) {
    Stream* stream = find_stream(call, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    return submit(call, *stream, std::move(work));
}

void host_waited(Call& call, const Stream& stream, bool staged) {
    machine::OrderEvent event{machine::OrderEvent::Kind::kStreamSync};
    event.stream = stream.id;
    event.device = stream.device;
    event.non_blocking = stream.non_blocking();
    event.site = call.site();
    event.staged = staged;
    call.global.fire(event);
    pools_synchronised(stream.device);
}

static bool prevents_waits(const Call& call, const Stream& stream) {
    const Capture* capture = stream.capture;
    return capture && !(capture->of_its_thread_only && capture->thread != &call.thread &&
                        stream.non_blocking());
}

static bool prevents_unsafe_calls(const Call& call, const Capture* capture) {
    if (!capture || call.thread.capture_mode == cudaStreamCaptureModeRelaxed) return false;
    if (capture->thread == &call.thread) return !capture->relaxed;
    return call.thread.capture_mode == cudaStreamCaptureModeGlobal && !capture->of_its_thread_only;
}

bool refuses_unsafe_call(Call& call) {
    bool any = false;
    for (const Stream* stream : call.global.streams) {
        if (!prevents_unsafe_calls(call, stream->capture)) continue;
        stream->capture->invalidate();
        any = true;
    }
    return any;
}

bool invalidate_captures(Call& call) {
    bool any = false;
    for (const Stream* stream : call.global.streams) {
        if (!prevents_waits(call, *stream)) continue;
        stream->capture->invalidate();
        any = true;
    }
    return any;
}

}  // namespace runtime
