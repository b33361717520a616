// SPDX-License-Identifier: MIT
// The part of cuda_calls.cpp that is about events, their clock and queries; included there, by
// nothing else.

WB_RUNTIME cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    using Function = cudaError_t(cudaEvent_t, cudaStream_t);
    WB_ENTER({"cudaEventRecord", stream, event});
    if (wb::EventClock* clock = wb::calls_detail::clock())
        clock->stamps[event] = {clock->now_ms, stream, false};
    return WB_REAL(cudaEventRecord)(event, stream);
}

WB_RUNTIME cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    using Function = cudaError_t(cudaEvent_t, cudaStream_t, unsigned);
    WB_ENTER({"cudaEventRecord", stream, event});
    if (wb::EventClock* clock = wb::calls_detail::clock())
        clock->stamps[event] = {clock->now_ms, stream, false};
    return WB_REAL(cudaEventRecordWithFlags)(event, stream, flags);
}

WB_RUNTIME cudaEventSynchronize(cudaEvent_t event) {
    using Function = cudaError_t(cudaEvent_t);
    WB_ENTER({"cudaEventSynchronize", nullptr, event}, false, true);
    wb::calls_detail::waited_for(event);
    return WB_REAL(cudaEventSynchronize)(event);
}

// A query that says "done" is as good as a wait: a loop of queries is a way to wait.
WB_RUNTIME cudaEventQuery(cudaEvent_t event) {
    using Function = cudaError_t(cudaEvent_t);
    WB_ENTER({"cudaEventQuery", nullptr, event}, false, true);
    if (!wb::calls_detail::ready(event)) return cudaErrorNotReady;
    const cudaError_t state = WB_REAL(cudaEventQuery)(event);
    if (state == cudaSuccess) wb::calls_detail::waited_for(event);
    return state;
}

WB_RUNTIME cudaStreamQuery(cudaStream_t stream) {
    using Function = cudaError_t(cudaStream_t);
    WB_ENTER({"cudaStreamQuery", stream}, false, true);
    if (!wb::calls_detail::ready(stream)) return cudaErrorNotReady;
    const cudaError_t state = WB_REAL(cudaStreamQuery)(stream);
    if (state == cudaSuccess) wb::calls_detail::waited_for_all();
    return state;
}

WB_RUNTIME cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
    using Function = cudaError_t(float*, cudaEvent_t, cudaEvent_t);
    WB_ENTER({"cudaEventElapsedTime", nullptr, stop});
    if (wb::EventClock* clock = wb::calls_detail::clock()) {
        const auto from = clock->stamps.find(start), to = clock->stamps.find(stop);
        if (from == clock->stamps.end() || to == clock->stamps.end())
            return cudaErrorInvalidResourceHandle;
        if (!from->second.waited || !to->second.waited) return cudaErrorNotReady;
        const cudaError_t error = WB_REAL(cudaEventElapsedTime)(ms, start, stop);
        if (error == cudaSuccess) *ms = float(to->second.ms - from->second.ms);
        return error;
    }
    return WB_REAL(cudaEventElapsedTime)(ms, start, stop);
}

WB_RUNTIME cudaEventDestroy(cudaEvent_t event) {
    using Function = cudaError_t(cudaEvent_t);
    WB_ENTER({"cudaEventDestroy", nullptr, event});
    if (wb::EventClock* clock = wb::calls_detail::clock()) clock->stamps.erase(event);
    return WB_REAL(cudaEventDestroy)(event);
}
