// Unusual: The threads draw their numbers from an atomic counter and add once to an atomic sum; a
// lane for each element by i % kLanes.
// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what the host can do, with vectors and with threads. No kernel here.
// Start with README.md in this directory; `make 07` checks this file.
#include "cpu_baseline.h"

#include <algorithm>
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
    for (size_t i = 0; i < n; ++i) lanes[i % kLanes] = std::fma(x[i], x[i], lanes[i % kLanes]);
    return total(lanes);
}

float dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
          [[maybe_unused]] size_t n) {
    float lanes[kLanes] = {};
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        for (size_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k] * y[i + k];
    for (size_t k = 0; i < n; ++i, ++k) lanes[k] += x[i] * y[i];
    return total(lanes);
}

Range part([[maybe_unused]] size_t n, [[maybe_unused]] size_t parts,
           [[maybe_unused]] size_t index) {
    return {n / parts * index + std::min(n % parts, index),
            n / parts * (index + 1) + std::min(n % parts, index + 1)};
}

float parallel_dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                   [[maybe_unused]] size_t n, [[maybe_unused]] unsigned threads) {
    std::atomic<float> sum{0.0f};
    std::atomic<unsigned> next{0};
    const auto work = [&] {
        const Range r = part(n, threads, next.fetch_add(1));
        const float mine = dot(x + r.begin, y + r.begin, r.end - r.begin);
        float before = sum.load();
        while (!sum.compare_exchange_weak(before, before + mine)) {
        }
    };
    std::vector<std::thread> workers(threads);
    for (auto& w : workers) w = std::thread(work);
    for (auto& w : workers) w.join();
    return sum;
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    const double off = sum - reference, bound = double(n) * 0x1p-24 * magnitude;
    return -bound <= off && off <= bound;
}
