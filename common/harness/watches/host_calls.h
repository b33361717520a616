// SPDX-License-Identifier: MIT
// What work costs the host: its launches, captures, waits and allocations, counted from the calls
// to the runtime (which works on a card, too), and the time by the emulator's model.
#pragma once

#include "cases/timeline.h"
#include "cuda_calls.h"
#include "lesson_test.h"

namespace wb {
namespace {

struct HostCalls {
    // Of kernels and of graphs.
    Counted<uint64_t> host_launches = measured("host_launches", uint64_t(0));
    // Also by cudaGraphInstantiateWithParams and the like.
    Counted<uint64_t> graph_instantiations = measured("graph_instantiations", uint64_t(0));
    Counted<uint64_t> stream_captures = measured("stream_captures", uint64_t(0));
    // Synchronisations, queries, and copies that are not asynchronous.
    Counted<uint64_t> host_waits = measured("host_waits", uint64_t(0));
    // cudaMalloc and the like, and registered memory; not of pools.
    Counted<uint64_t> driver_allocations = measured("driver_allocations", uint64_t(0));
    // cudaFree and the like.
    Counted<uint64_t> driver_frees = measured("driver_frees", uint64_t(0));
    // A stream is told to wait for an event.
    Counted<uint64_t> stream_waits = measured("stream_waits", uint64_t(0));
    // TIMELINE.md; 0 on a card.
    Counted<uint64_t> model_microseconds = measured("model_microseconds", uint64_t(0));
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

// [{"file": "pools.cu", "line": 70, "host_waits": 300, "waits_for": "a stream"}, ...]: where the
// answer waits, by the model timeline. The waits of the test and its headers are left out.
inline std::string lines_of_waits(const Timeline& timeline) {
    std::map<std::pair<std::string, unsigned>, std::pair<uint64_t, std::string>> found;
    for (const Timeline::Interval& one : timeline.of(Timeline::Kind::kWait)) {
        const std::string file = one.file.substr(one.file.rfind('/') + 1);
        const bool of_answer = file.size() > 3 && file.compare(file.size() - 3, 3, ".cu") == 0;
        if (!one.line || !of_answer) continue;
        auto& [times, name] = found[{file, one.line}];
        ++times;
        name = one.name;
    }
    std::string list;
    for (const auto& [place, wait] : found)
        list += (list.empty() ? "{" : ", {") + ("\"file\": " + details::quoted(place.first)) +
                ", \"line\": " + std::to_string(place.second) +
                ", \"host_waits\": " + std::to_string(wait.first) +
                ", \"waits_for\": " + details::quoted(wait.second) + "}";
    return "[" + list + "]";
}

// {"cudaStreamSynchronize": 20, ...}
inline std::string names_of_waits(const std::map<std::string, uint64_t>& waits) {
    std::string list;
    for (const auto& [name, times] : waits)
        list += (list.empty() ? "" : ", ") + details::quoted(name) + ": " + std::to_string(times);
    return "{" + list + "}";
}

// What work() calls, and when the last piece of its work ends.
inline HostCalls host_calls(const std::function<void()>& work) {
    HostCalls calls;
    std::map<std::string, uint64_t> waits;
    const auto timeline = Timeline::of(
        [&] {
            CallWatch watch;
            work();
            calls.host_launches += watch.launches();
            for (const CudaCall& call : watch.calls) {
                calls.graph_instantiations +=
                    call.name.find("GraphInstantiate") != std::string::npos;
                calls.stream_captures += call.name.find("BeginCapture") != std::string::npos;
                if (waits_for_device(call.name)) ++waits[call.name], calls.host_waits += 1;
                calls.driver_allocations += allocates_by_driver(call.name);
                calls.driver_frees += frees_by_driver(call.name);
                calls.stream_waits += call.name == "cudaStreamWaitEvent";
            }
        },
        false);
    if (timeline) calls.model_microseconds += (timeline->total() + 500) / 1000;
    details::note_counted({calls.host_launches,
                           calls.graph_instantiations,
                           calls.stream_captures,
                           calls.host_waits,
                           calls.driver_allocations,
                           calls.driver_frees,
                           calls.stream_waits,
                           calls.model_microseconds},
                          "\"waits\": " + names_of_waits(waits) +
                              (timeline ? ", \"lines\": " + lines_of_waits(*timeline) : ""));
    return calls;
}

}  // namespace
}  // namespace wb
