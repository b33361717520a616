// SPDX-License-Identifier: MIT
// Creation of streams, waits, queries, and host functions in stream order.
#include <algorithm>

#include "runtime/core/stream.h"

using namespace runtime;
using machine::OrderEvent;

namespace {

// Priorities as on hardware: 0 is the lowest, smaller numbers are more urgent.
constexpr int kLeastPriority = 0, kGreatestPriority = -5;

void notify(Call& call, OrderEvent::Kind kind, const Stream& stream, const Event* event = nullptr) {
    OrderEvent order{kind};
    order.stream = stream.id;
    order.event = event ? event->id : 0;
    order.non_blocking = stream.non_blocking();
    order.device = stream.device;
    call.global.fire(order);
}

cudaError_t create(const char* name, cudaStream_t* result, unsigned flags, int priority) {
    return api(name, [&](Call& call) -> cudaError_t {
        if (!result || (flags & ~unsigned(cudaStreamNonBlocking))) return cudaErrorInvalidValue;
        auto* stream = new Stream;
        stream->id = call.global.next_stream++;
        stream->device = call.thread.device;
        stream->flags = flags;
        stream->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
        call.global.streams.insert(stream);
        notify(call, OrderEvent::Kind::kStreamCreate, *stream);
        *result = handle_of(stream);
        return cudaSuccess;
    });
}

template <class F>
cudaError_t with_stream(const char* name, cudaStream_t handle, unsigned flags, F&& body) {
    return api(name, flags, [&](Call& call) -> cudaError_t {
        Stream* stream = find_stream(call, handle);
        return stream ? body(call, *stream) : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t synchronize(const char* name, cudaStream_t handle) {
    return with_stream(name, handle, kSynchronises, [](Call& call, Stream& stream) -> cudaError_t {
        if (stream.capture) {
            stream.capture->invalidate();
            return cudaErrorStreamCaptureUnsupported;
        }
        host_waited(call, stream);
        return cudaSuccess;
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return create("cudaStreamCreate", stream, cudaStreamDefault, 0);
}
EMULATOR_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return create("cudaStreamCreateWithFlags", stream, flags, 0);
}
EMULATOR_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                      int priority) {
    return create("cudaStreamCreateWithPriority", stream, flags, priority);
}

EMULATOR_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    return api("cudaStreamDestroy", kIgnoresFault, [&](Call& call) -> cudaError_t {
        auto* stream = reinterpret_cast<Stream*>(handle);
        if (!call.global.streams.contains(stream)) return cudaErrorInvalidResourceHandle;
        notify(call, OrderEvent::Kind::kStreamDestroy, *stream);
        call.global.streams.erase(stream);
        delete stream;
        return call.device().fault;
    });
}

EMULATOR_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return synchronize("cudaStreamSynchronize", stream);
}
// Work is always complete, so a query that returns success counts as a wait.
EMULATOR_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return synchronize("cudaStreamQuery", stream);
}
EMULATOR_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle,
                                             unsigned flags) {
    return with_stream(
        "cudaStreamWaitEvent", handle, kPlain, [&](Call& call, Stream& stream) -> cudaError_t {
            if (flags & ~unsigned(cudaEventWaitExternal)) return cudaErrorInvalidValue;
            Event* event = find_event(event_handle);
            if (!event) return cudaErrorInvalidResourceHandle;
            Work work{Work::Kind::kWait,
                      "cudaStreamWaitEvent",
                      [event](Call& later, Stream& where) -> cudaError_t {
                          if (!later.global.events.contains(event))
                              return cudaErrorInvalidResourceHandle;
                          notify(later, OrderEvent::Kind::kStreamWaitEvent, where, event);
                          return cudaSuccess;
                      }};
            work.event = event;
            // Waiting for an event of a captured stream adds this stream to the capture.
            if (event->capture && !stream.capture)
                return event->capture->add(stream, std::move(work));
            return submit(call, stream, std::move(work));
        });
}
EMULATOR_API cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function,
                                            void* data) {
    return with_stream(
        "cudaLaunchHostFunc", handle, kPlain, [&](Call& call, Stream& stream) -> cudaError_t {
            if (!function) return cudaErrorInvalidValue;
            return submit(
                call,
                stream,
                Work{Work::Kind::kHost, "cudaLaunchHostFunc", [=](Call& later, Stream& s) {
                         notify(later, OrderEvent::Kind::kHostSees, s);
                         later.unlocked([&] { function(data); }, true);
                         return cudaSuccess;
                     }});
        });
}
EMULATOR_API cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function,
                                               void* data, unsigned flags) {
    return with_stream(
        "cudaStreamAddCallback", handle, kPlain, [&](Call& call, Stream& stream) -> cudaError_t {
            if (!function || flags) return cudaErrorInvalidValue;
            if (stream.capture) {
                stream.capture->invalidate();
                return cudaErrorStreamCaptureUnsupported;
            }
            notify(call, OrderEvent::Kind::kHostSees, stream);
            call.unlocked([&] { function(handle, cudaSuccess, data); }, true);
            return cudaSuccess;
        });
}
EMULATOR_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
    return with_stream("cudaStreamGetFlags", handle, kPlain, [&](Call&, Stream& stream) {
        if (flags) *flags = stream.flags;
        return flags ? cudaSuccess : cudaErrorInvalidValue;
    });
}
EMULATOR_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
    return with_stream("cudaStreamGetPriority", handle, kPlain, [&](Call&, Stream& stream) {
        if (priority) *priority = stream.priority;
        return priority ? cudaSuccess : cudaErrorInvalidValue;
    });
}
EMULATOR_API cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
    return with_stream("cudaStreamGetId", handle, kPlain, [&](Call&, Stream& stream) {
        if (id) *id = stream.id;
        return id ? cudaSuccess : cudaErrorInvalidValue;
    });
}
EMULATOR_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
    return with_stream("cudaStreamGetDevice", handle, kPlain, [&](Call&, Stream& stream) {
        if (device) *device = stream.device;
        return device ? cudaSuccess : cudaErrorInvalidValue;
    });
}
EMULATOR_API cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                                cudaLaunchAttributeValue* value) {
    return with_stream("cudaStreamGetAttribute", handle, kPlain, [&](Call&, Stream& stream) {
        if (!value) return cudaErrorInvalidValue;
        *value = stream.attributes[id];
        if (id == cudaLaunchAttributePriority) value->priority = stream.priority;
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                                const cudaLaunchAttributeValue* value) {
    return with_stream("cudaStreamSetAttribute", handle, kPlain, [&](Call&, Stream& stream) {
        if (!value) return cudaErrorInvalidValue;
        stream.attributes[id] = *value;
        if (id == cudaLaunchAttributePriority) stream.priority = value->priority;
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return with_stream("cudaStreamCopyAttributes", to, kPlain, [&](Call& call, Stream& stream) {
        const Stream* source = find_stream(call, from);
        if (!source) return cudaErrorInvalidResourceHandle;
        stream.attributes = source->attributes;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return api("cudaDeviceGetStreamPriorityRange", [&](Call&) {
        if (least) *least = kLeastPriority;
        if (greatest) *greatest = kGreatestPriority;
        return cudaSuccess;
    });
}
