// Unusual: A place of 64 bytes for each sum, products added there one by one, and an atomic counter
// that hands out the parts.
// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what the host can do, with vectors and with threads. No kernel here.
// Start with README.md in this directory; `make 07` checks this file.
#include "cpu_baseline.h"

#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

// The sum of the kLanes sums.
[[maybe_unused]] static float total(const float (&lanes)[kLanes]) {
    return std::accumulate(lanes, lanes + kLanes, 0.0f);
}

float sum_squares(const float* x, size_t n) {
    float lanes[kLanes] = {};
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane] * x[i + lane];
    }
    for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += x[i] * x[i];
    return total(lanes);
}

float dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
          [[maybe_unused]] size_t n) {
    float lanes[kLanes] = {};
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
    }
    for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += x[i] * y[i];
    return total(lanes);
}

Range part([[maybe_unused]] size_t n, [[maybe_unused]] size_t parts,
           [[maybe_unused]] size_t index) {
    const size_t length = n / parts;
    const size_t longer = n % parts;
    const size_t begin = index * length + (index < longer ? index : longer);
    return {begin, begin + length + (index < longer ? 1 : 0)};
}

float parallel_dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                   [[maybe_unused]] size_t n, [[maybe_unused]] unsigned threads) {
    struct alignas(64) Slot {
        float lanes[kLanes] = {};
    };
    std::vector<Slot> slots(threads);
    std::atomic<unsigned> next{0};
    std::vector<std::thread> workers(threads);
    for (std::thread& worker : workers) {
        worker = std::thread([&] {
            const unsigned mine = next++;
            const Range range = part(n, threads, mine);
            for (size_t i = range.begin; i < range.end; ++i)
                slots[mine].lanes[i % kLanes] += x[i] * y[i];
        });
    }
    float sum = 0;
    for (size_t t = workers.size(); t-- > 0;) {
        workers[t].join();
    }
    for (const Slot& slot : slots) sum += total(slot.lanes);
    return sum;
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    const double bound = static_cast<double>(n) * 0x1p-24 * magnitude;
    return std::fabs(sum - reference) <= bound;
}
