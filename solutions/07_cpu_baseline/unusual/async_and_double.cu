// Unusual: Std::async for all parts but the last, which the calling thread takes; sums in double,
// in lanes of four times two.
// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what the host can do, with vectors and with threads. No kernel here.
// Start with README.md in this directory; `make 07` checks this file.
#include "cpu_baseline.h"

#include <cmath>
#include <future>
#include <numeric>
#include <thread>
#include <vector>

// The sum of the kLanes sums.
[[maybe_unused]] static float total(const float (&lanes)[kLanes]) {
    return std::accumulate(lanes, lanes + kLanes, 0.0f);
}

float sum_squares(const float* x, size_t n) {
    return dot(x, x, n);
}

float dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
          [[maybe_unused]] size_t n) {
    double lanes[kLanes] = {};
    for (size_t i = 0; i < n; ++i) lanes[i % kLanes] += static_cast<double>(x[i]) * y[i];
    return static_cast<float>(std::accumulate(lanes, lanes + kLanes, 0.0));
}

Range part([[maybe_unused]] size_t n, [[maybe_unused]] size_t parts,
           [[maybe_unused]] size_t index) {
    return {index * (n / parts) + index * (n % parts) / parts,
            (index + 1) * (n / parts) + (index + 1) * (n % parts) / parts};
}

float parallel_dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                   [[maybe_unused]] size_t n, [[maybe_unused]] unsigned threads) {
    const auto sum_of = [=](unsigned t) {
        const Range mine = part(n, threads, t);
        return dot(x + mine.begin, y + mine.begin, mine.end - mine.begin);
    };
    std::vector<std::future<float>> others;
    for (unsigned t = 0; t + 1 < threads; ++t)
        others.push_back(std::async(std::launch::async, sum_of, t));
    double sum = sum_of(threads - 1);
    for (std::future<float>& other : others) sum += other.get();
    return static_cast<float>(sum);
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    const double difference = sum > reference ? sum - reference : reference - sum;
    return difference <= std::ldexp(magnitude * n, -24);
}
