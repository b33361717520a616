// Mutant: difference and bound are computed in float, which rounds the reference.
// verdict: fails "task 5: sums that differ by more"
// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what the host can do, with vectors and with threads. No kernel here.
// Start with README.md in this directory; `make 07` checks this file.
#include "cpu_baseline.h"

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
    for (; i + kLanes <= n; i += kLanes)
        for (size_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k] * x[i + k];
    for (; i < n; ++i) lanes[i % kLanes] += x[i] * x[i];
    return total(lanes);
}

float dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
          [[maybe_unused]] size_t n) {
    float lanes[kLanes] = {};
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        for (size_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k] * y[i + k];
    for (; i < n; ++i) lanes[i % kLanes] += x[i] * y[i];
    return total(lanes);
}

Range part([[maybe_unused]] size_t n, [[maybe_unused]] size_t parts,
           [[maybe_unused]] size_t index) {
    size_t q = n / parts, r = n % parts;
    size_t b = index * q + (index < r ? index : r);
    return {b, b + q + (index < r)};
}

float parallel_dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                   [[maybe_unused]] size_t n, [[maybe_unused]] unsigned threads) {
    std::vector<float> sums(threads);
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; ++t)
        pool.emplace_back([&, t] {
            Range r = part(n, threads, t);
            sums[t] = dot(x + r.begin, y + r.begin, r.end - r.begin);
        });
    for (auto& t : pool) t.join();
    return std::accumulate(sums.begin(), sums.end(), 0.0f);
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    return std::fabs(sum - float(reference)) <= float(n) * 0x1p-24f * float(magnitude);
}
