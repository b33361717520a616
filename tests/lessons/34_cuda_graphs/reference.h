// SPDX-License-Identifier: MIT
// References and data of lesson 34's tests: the steps of a rod on the host in double, a rod in
// device memory, and streams.
#pragma once

#include "cuda_graphs.h"
#include "lesson_test.h"

#include <algorithm>
#include <cmath>

namespace {

using Floats = std::vector<float>;

constexpr int kSizes[] = {1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 5000};
constexpr float kRate = 0.25f;

// Steps with one rate.
struct Leg {
    int steps;
    float rate;
};

inline void step_on_host(std::vector<double>& heat, float rate) {
    const std::vector<double> was = heat;
    for (size_t i = 1; i + 1 < heat.size(); ++i)
        heat[i] = was[i] + double(rate) * (was[i - 1] - 2 * was[i] + was[i + 1]);
}

inline Floats on_host(const Floats& start, const std::vector<Leg>& legs) {
    std::vector<double> heat(start.begin(), start.end());
    for (const Leg& leg : legs)
        for (int step = 0; step < leg.steps; ++step) step_on_host(heat, leg.rate);
    return Floats(heat.begin(), heat.end());
}

inline int steps_of(const std::vector<Leg>& legs) {
    int steps = 0;
    for (const Leg& leg : legs) steps += leg.steps;
    return steps;
}

// With 0 <= rate <= 1/2 a step does not enlarge differences. It adds less than 4 roundings of a
// number that is at most 4 times the largest heat.
inline double tolerance_of(const Floats& start, int steps) {
    float largest = 0;
    for (const float heat : start) largest = std::max(largest, std::fabs(heat));
    return 4.0 * 0x1p-24 * 4 * largest * (steps + 1);
}

// A rod in device memory, random in [0, 100), with its scratch memory full of NaN.
struct TestRod {
    explicit TestRod(int n, uint64_t seed = 1)
        : start(wb::random_floats(n, seed, 0, 100)), heat(start, wb::guard(1024)),
          scratch(n, wb::guard(1024)) {
        CUDA_CHECK(cudaDeviceSynchronize());  // the fills above, which not every stream waits for
    }
    Rod rod() { return {heat.get(), scratch.get(), int(start.size())}; }
    Floats download() {
        CUDA_CHECK(cudaDeviceSynchronize());
        CHECK(heat.intact());
        CHECK(scratch.intact());
        return heat.download();
    }
    // Whether a step has written to d_scratch.
    bool moved() const {
        const Floats values = scratch.download();
        return std::any_of(values.begin(), values.end(), [](float v) { return !std::isnan(v); });
    }
    Floats start;
    wb::GuardedBuffer<float> heat, scratch;
};

struct TestStream {
    explicit TestStream(unsigned flags = cudaStreamNonBlocking) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
    }
    ~TestStream() { cudaStreamDestroy(stream); }
    TestStream(const TestStream&) = delete;
    TestStream& operator=(const TestStream&) = delete;
    operator cudaStream_t() const { return stream; }
    cudaStream_t stream = nullptr;
};

}  // namespace
