// SPDX-License-Identifier: MIT
// What work costs the host: its launches, captures and waits, counted from the calls to the runtime
// (which works on a card, too), and the time by the emulator's model. Includes cuda_calls.h, so
// that it belongs in one file of a program.
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
    uint64_t model_microseconds = 0;  // TIMELINE.md; 0 on a card
};

inline bool waits_for_device(const std::string& name) {
    for (const char* one : {"Synchronize", "Query"})
        if (name.find(one) != std::string::npos) return true;
    return name == "cudaMemcpy" || name == "cudaMemcpyToSymbol" || name == "cudaFree";
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
            }
        },
        false);
    if (timeline) calls.model_microseconds = (timeline->total() + 500) / 1000;
    details::note_numbers({{"host_launches", calls.host_launches},
                           {"graph_instantiations", calls.graph_instantiations},
                           {"stream_captures", calls.stream_captures},
                           {"host_waits", calls.host_waits},
                           {"model_microseconds", calls.model_microseconds}});
    return calls;
}

}  // namespace
}  // namespace wb
