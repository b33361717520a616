// SPDX-License-Identifier: MIT
// What work costs the host: its launches, captures, waits and allocations, counted from the calls
// to the runtime (which works on a card, too), and the time by the emulator's model.
#pragma once

#include "cuda_calls.h"
#include "lesson_test.h"
#include "timeline.h"

namespace wb {
namespace {

struct HostCalls {
    uint64_t host_launches = 0;         // of kernels and of graphs
    uint64_t graph_instantiations = 0;  // also by cudaGraphInstantiateWithParams and the like
    uint64_t stream_captures = 0;
    uint64_t host_waits = 0;  // synchronisations, queries, and copies that are not asynchronous
    uint64_t driver_allocations =
        0;                      // cudaMalloc and the like, and registered memory; not of pools
    uint64_t driver_frees = 0;  // cudaFree and the like
    uint64_t stream_waits = 0;  // a stream is told to wait for an event
    uint64_t model_microseconds = 0;  // TIMELINE.md; 0 on a card
};

inline bool waits_for_device(const std::string& name) {
    for (const char* one : {"Synchronize", "Query"})
        if (name.find(one) != std::string::npos) return true;
    return name == "cudaMemcpy" || name == "cudaMemcpyToSymbol" || name == "cudaFree";
}

// Pools of the driver allocate and free in the order of a stream, by calls with "Async".
inline bool in_stream_order(const std::string& name) {
    return name.find("Async") != std::string::npos;
}
inline bool allocates_by_driver(const std::string& name) {
    return (name.find("lloc") != std::string::npos || name == "cudaHostRegister") &&
           !in_stream_order(name);
}
inline bool frees_by_driver(const std::string& name) {
    return name.find("cudaFree") == 0 && !in_stream_order(name);
}

// What work() calls, and when the last piece of its work ends.
inline HostCalls host_calls(const std::function<void()>& work) {
    HostCalls calls;
    const auto timeline = Timeline::of(
        [&] {
            CallWatch watch;
            work();
            calls.host_launches = watch.launches();
            for (const CudaCall& call : watch.calls) {
                calls.graph_instantiations +=
                    call.name.find("GraphInstantiate") != std::string::npos;
                calls.stream_captures += call.name.find("BeginCapture") != std::string::npos;
                calls.host_waits += waits_for_device(call.name);
                calls.driver_allocations += allocates_by_driver(call.name);
                calls.driver_frees += frees_by_driver(call.name);
                calls.stream_waits += call.name == "cudaStreamWaitEvent";
            }
        },
        false);
    if (timeline) calls.model_microseconds = (timeline->total() + 500) / 1000;
    details::note_numbers({{"host_launches", calls.host_launches},
                           {"graph_instantiations", calls.graph_instantiations},
                           {"stream_captures", calls.stream_captures},
                           {"host_waits", calls.host_waits},
                           {"driver_allocations", calls.driver_allocations},
                           {"driver_frees", calls.driver_frees},
                           {"stream_waits", calls.stream_waits},
                           {"model_microseconds", calls.model_microseconds}});
    return calls;
}

}  // namespace
}  // namespace wb
