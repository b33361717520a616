// SPDX-License-Identifier: MIT
// Events: points in the order of a stream, with the wall-clock time at which the host reached them.
#include "runtime/core/pools.h"
#include "runtime/core/stream.h"

using namespace runtime;
using machine::OrderEvent;

namespace {

void notify(Call& call, OrderEvent::Kind kind, const Event& event) {
    OrderEvent order{kind};
    order.stream = event.stream;
    order.event = event.id;
    order.device = event.device;
    if (kind == OrderEvent::Kind::kEventSync) order.site = call.site();
    call.global.fire(order);
}

cudaError_t create(const char* name, cudaEvent_t* result, unsigned flags) {
    return api(name, [&](Call& call) -> cudaError_t {
        constexpr unsigned known =
            cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
        if (!result || (flags & ~known)) return cudaErrorInvalidValue;
        if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming))
            return cudaErrorInvalidValue;
        auto* event = new Event;
        event->id = call.global.next_event++;
        event->device = call.thread.device;
        event->flags = flags;
        call.global.events.insert(event);
        *result = reinterpret_cast<cudaEvent_t>(event);
        return cudaSuccess;
    });
}

cudaError_t record(const char* name, cudaEvent_t handle, cudaStream_t stream_handle,
                   unsigned flags) {
    return api(name, [&](Call& call) -> cudaError_t {
        if (flags & ~unsigned(cudaEventRecordExternal)) return cudaErrorInvalidValue;
        Event* event = find_event(handle);
        Stream* stream = find_stream(call, stream_handle);
        if (!event || !stream || event->device != stream->device)
            return cudaErrorInvalidResourceHandle;
        event->capture = stream->capture;
        Work work{Work::Kind::kRecord, name, [event](Call& later, Stream& where) -> cudaError_t {
                      // A graph may run this after the event was destroyed.
                      if (!later.global.events.contains(event))
                          return cudaErrorInvalidResourceHandle;
                      event->recorded = true;
                      event->stream = where.id;
                      event->time = std::chrono::steady_clock::now();
                      notify(later, OrderEvent::Kind::kEventRecord, *event);
                      if (event->shared_file >= 0) known_elsewhere(later, *event);
                      return cudaSuccess;
                  }};
        work.event = event;
        return submit(call, *stream, std::move(work));
    });
}

// cudaEventQuery and cudaEventSynchronize: recorded work is always complete, and an event that was
// never recorded counts as complete.
cudaError_t wait(const char* name, cudaEvent_t handle) {
    return api(name, kSynchronises, [&](Call& call) -> cudaError_t {
        const Event* event = find_event(handle);
        if (!event) return cudaErrorInvalidResourceHandle;
        if (event->capture) return cudaErrorCapturedEvent;
        if (event->recorded) notify(call, OrderEvent::Kind::kEventSync, *event);
        pools_synchronised(event->device);
        return cudaSuccess;
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return create("cudaEventCreate", event, 0);
}
EMULATOR_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return create("cudaEventCreateWithFlags", event, flags);
}

EMULATOR_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
    return api("cudaEventDestroy", kIgnoresFault, [&](Call& call) -> cudaError_t {
        auto* event = reinterpret_cast<Event*>(handle);
        if (!call.global.events.contains(event)) return cudaErrorInvalidResourceHandle;
        call.global.events.erase(event);
        stop_sharing(*event);
        delete event;
        return call.device().fault;
    });
}

EMULATOR_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return record("cudaEventRecord", event, stream, 0);
}
EMULATOR_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                  unsigned flags) {
    return record("cudaEventRecordWithFlags", event, stream, flags);
}

EMULATOR_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return wait("cudaEventSynchronize", event);
}
EMULATOR_API cudaError_t cudaEventQuery(cudaEvent_t event) {
    return wait("cudaEventQuery", event);
}

EMULATOR_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start_handle,
                                              cudaEvent_t end_handle) {
    return api("cudaEventElapsedTime", kSynchronises, [&](Call& call) -> cudaError_t {
        if (!milliseconds) return cudaErrorInvalidValue;
        const Event* start = find_event(start_handle);
        const Event* end = find_event(end_handle);
        for (const Event* event : {start, end})
            if (!event || !event->recorded || (event->flags & cudaEventDisableTiming))
                return cudaErrorInvalidResourceHandle;
        for (const Event* event : {start, end}) notify(call, OrderEvent::Kind::kHostSees, *event);
        *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
        // The clock may not have advanced; programs divide by the time and expect it to be
        // positive.
        if (start != end && *milliseconds == 0) *milliseconds = 1e-6f;
        return cudaSuccess;
    });
}
