// Unusual: Each thread adds its finished sum under a mutex, once; eight named sums instead of an
// array.
// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what the host can do, with vectors and with threads. No kernel here.
// Start with README.md in this directory; `make 07` checks this file.
#include "cpu_baseline.h"

#include <cmath>
#include <mutex>
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
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    const float* const end = x + n;
    while (end - x >= 8) {
        s0 += x[0] * y[0], s1 += x[1] * y[1], s2 += x[2] * y[2], s3 += x[3] * y[3];
        s4 += x[4] * y[4], s5 += x[5] * y[5], s6 += x[6] * y[6], s7 += x[7] * y[7];
        x += 8, y += 8;
    }
    float rest = 0;
    while (x != end) rest += *x++ * *y++;
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + rest;
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
    float sum = 0;
    std::mutex turn;
    const auto work = [&sum, &turn, x, y, n, threads](unsigned t) {
        const Range mine = part(n, threads, t);
        const float own = dot(x + mine.begin, y + mine.begin, mine.end - mine.begin);
        const std::lock_guard<std::mutex> lock(turn);
        sum += own;
    };
    std::vector<std::thread> workers;
    for (unsigned t = 1; t < threads; ++t) workers.emplace_back(work, t);
    work(0);
    for (auto& worker : workers) worker.join();
    return sum;
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    const double bound = static_cast<double>(n) * 0x1p-24 * magnitude;
    return std::fabs(sum - reference) <= bound;
}
