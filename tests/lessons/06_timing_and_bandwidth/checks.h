// SPDX-License-Identifier: MIT
// What the tests of lesson 06 share: the method of a measurement is checked, not the speed of a
// machine. Events take their time from a clock that the test moves, so every result is known in
// advance, on the emulator and on a card.
//
// Tolerance: events report a float, so times agree to 2^-23 of the largest; rates to 1e-6.
#pragma once

#include <algorithm>

#include "lesson_test.h"
#include "timing_and_bandwidth.h"
#include "watches/cuda_calls.h"

namespace {

// A stream of its own, so that events in the wrong one are noticed.
struct Stream {
    Stream() { CUDA_CHECK(cudaStreamCreate(&stream)); }
    ~Stream() { cudaStreamDestroy(stream); }
    cudaStream_t stream = nullptr;
};

inline bool is_close(double got, double want, double relative = 0x1p-22) {
    return std::fabs(got - want) <= relative * std::fabs(want);
}

inline void check_close(double got, double want, const std::string& about,
                        double relative = 0x1p-22) {
    const char* known = "";
    if (is_close(got * 1e3, want, relative)) known = ", which is in seconds";
    if (is_close(got, want * 1e3, relative)) known = ", which is in microseconds";
    if (is_close(got, -want, relative))
        known = ": the sign is wrong, as if it ended before it began";
    INFO(about << ": got " << got << known << ", want " << want);
    CHECK(is_close(got, want, relative));
}

inline double middle_of(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const size_t half = times.size() / 2;
    return times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
}

// What a wrong median is instead, by all that it might be: ", which is the mean".
inline std::string known(double got, std::vector<double> times) {
    if (times.empty()) return "";
    const size_t half = times.size() / 2;
    const bool odd = times.size() % 2;
    const double unsorted = odd ? times[half] : (times[half ? half - 1 : 0] + times[half]) / 2;
    const double first = times.front(), last = times.back();
    double sum = 0;
    for (const double ms : times) sum += ms;
    std::sort(times.begin(), times.end());
    // Of the middle two each index is 1 too large.
    const double above = (times[half] + times[std::min(half + 1, times.size() - 1)]) / 2;
    const std::pair<double, const char*> others[] = {
        {middle_of(times), "the median"},
        {sum / double(times.size()), "the mean"},
        {unsorted, "the median of the list before it is sorted"},
        {times.front(), "the smallest"},
        {times.back(), "the largest"},
        {sum, "the sum"},
        {times[half], "the upper one of the middle two"},
        {times[half ? half - 1 : 0], "the one below the middle"},
        {above, "the mean of the one above the middle and its neighbour"},
        {first, "the first"},
        {last, "the last"}};
    std::string text;
    for (const auto& [value, words] : others)
        if (is_close(got, value))
            text += (text.empty() ? ", which is " : ", or ") + std::string(words);
    return text;
}

// Work whose runs take the given times on the device, in order.
struct FakeWork {
    wb::EventClock clock;
    std::vector<double> ms;
    int runs = 0;
    std::vector<cudaStream_t> streams;
    Work work() {
        return [this](cudaStream_t stream) {
            clock.now_ms += ms[std::min(size_t(runs), ms.size() - 1)];
            ++runs;
            streams.push_back(stream);
        };
    }
};

inline void check_streams(const wb::CallWatch& watch, cudaStream_t stream) {
    for (const wb::CudaCall& call : watch.calls) {
        if (call.name != "cudaEventRecord" && call.name.find("Launch") == std::string::npos)
            continue;
        const bool launch = call.name.find("Launch") != std::string::npos;
        INFO((launch ? "the launch of the kernel" : call.name)
             << " was not given the stream of the work");
        CHECK(call.stream == stream);
    }
}

}  // namespace
