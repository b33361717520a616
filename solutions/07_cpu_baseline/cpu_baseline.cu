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
    // TODO 1 (about 6 lines): keep kLanes sums, and add element i to sum i % kLanes. Process whole
    // groups of kLanes elements first, then the remaining ones.
    //| float sum = 0;
    //| for (size_t i = 0; i < n; ++i) sum += x[i] * x[i];
    //| return sum;  // placeholder
    float lanes[kLanes] = {};
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane] * x[i + lane];
    }
    for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += x[i] * x[i];
    return total(lanes);
    // END 1
}

float dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
          [[maybe_unused]] size_t n) {
    // TODO 2 (about 6 lines): do the same for products of two arrays.
    //| return 0.0f;  // placeholder
    float lanes[kLanes] = {};
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
    }
    for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += x[i] * y[i];
    return total(lanes);
    // END 2
}

Range part([[maybe_unused]] size_t n, [[maybe_unused]] size_t parts,
           [[maybe_unused]] size_t index) {
    // TODO 3 (about 4 lines): give each part n / parts elements, and the first n % parts one more.
    //| return {0, 0};  // placeholder
    const size_t length = n / parts;
    const size_t longer = n % parts;
    const size_t begin = index * length + (index < longer ? index : longer);
    return {begin, begin + length + (index < longer ? 1 : 0)};
    // END 3
}

float parallel_dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                   [[maybe_unused]] size_t n, [[maybe_unused]] unsigned threads) {
    // TODO 4 (about 11 lines): start the threads; each stores the dot product of its part in an
    // element of its own. After all have been started, wait for all of them, and add their sums.
    //| return 0.0f;  // placeholder
    std::vector<float> sums(threads);
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t) {
        workers.emplace_back([=, &sums] {
            const Range mine = part(n, threads, t);
            sums[t] = dot(x + mine.begin, y + mine.begin, mine.end - mine.begin);
        });
    }
    for (std::thread& worker : workers) worker.join();
    return std::accumulate(sums.begin(), sums.end(), 0.0f);
    // END 4
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    // TODO 5 (about 2 lines): compare the difference with the bound; NaN must not agree.
    //| return sum == static_cast<float>(reference);  // placeholder
    const double bound = static_cast<double>(n) * 0x1p-24 * magnitude;
    return std::fabs(sum - reference) <= bound;
    // END 5
}
