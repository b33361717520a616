// Mutant: the threads are detached: the sums are added before they are there.
// verdict: fails "task 4: no two threads meet"
// limit: 10 seconds
// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what the host can do, with vectors and with threads. No kernel here.
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
    std::vector<float> sums(threads);
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t) {
        workers.emplace_back([=, &sums] {
            const Range mine = part(n, threads, t);
            sums[t] = dot(x + mine.begin, y + mine.begin, mine.end - mine.begin);
        });
    }
    for (std::thread& worker : workers) worker.detach();
    return std::accumulate(sums.begin(), sums.end(), 0.0f);
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    const double bound = static_cast<double>(n) * 0x1p-24 * magnitude;
    return std::fabs(sum - reference) <= bound;
}
