// Unusual: Each call halves the threads and the elements; a new thread takes the first half, and
// the thread that started it joins it.
// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what the host can do, with vectors and with threads. No kernel here.
// Start with README.md in this directory; `make 07` checks this file.
#include "cpu_baseline.h"

#include <cmath>
#include <numeric>
#include <thread>

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

// The parts [first, first + count) of `threads`.
static float halves(const float* x, const float* y, size_t n, unsigned threads, unsigned first,
                    unsigned count) {
    if (count == 1) {
        const Range mine = part(n, threads, first);
        return dot(x + mine.begin, y + mine.begin, mine.end - mine.begin);
    }
    const unsigned half = count / 2;
    float left = 0;
    std::thread other(
        [&left, x, y, n, threads, first, half] { left = halves(x, y, n, threads, first, half); });
    const float right = halves(x, y, n, threads, first + half, count - half);
    other.join();
    return left + right;
}

float parallel_dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                   [[maybe_unused]] size_t n, [[maybe_unused]] unsigned threads) {
    return halves(x, y, n, threads, 0, threads);
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    const double bound = static_cast<double>(n) * 0x1p-24 * magnitude;
    return std::fabs(sum - reference) <= bound;
}
