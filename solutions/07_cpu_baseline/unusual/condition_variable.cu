// Unusual: The sums meet under a mutex, a condition variable says when all are in, and the threads
// are joined after that.
// SPDX-License-Identifier: MIT
// Lesson 07, CPU baseline: what the host can do, with vectors and with threads. No kernel here.
// Start with README.md in this directory; `make 07` checks this file.
#include "cpu_baseline.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
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
    for (; i + kLanes <= n; i += kLanes)
        for (size_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k] * x[i + k];
    for (size_t k = 0; i < n; ++i, ++k) lanes[k] += x[i] * x[i];
    return total(lanes);
}

float dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
          [[maybe_unused]] size_t n) {
    float lanes[kLanes];
    std::fill_n(lanes, kLanes, 0.f);
    const float* end = x + n / kLanes * kLanes;
    while (x != end) {
        for (float& lane : lanes) lane += *x++ * *y++;
    }
    switch (n % kLanes) {
    case 7:
        lanes[6] += x[6] * y[6];
        [[fallthrough]];
    case 6:
        lanes[5] += x[5] * y[5];
        [[fallthrough]];
    case 5:
        lanes[4] += x[4] * y[4];
        [[fallthrough]];
    case 4:
        lanes[3] += x[3] * y[3];
        [[fallthrough]];
    case 3:
        lanes[2] += x[2] * y[2];
        [[fallthrough]];
    case 2:
        lanes[1] += x[1] * y[1];
        [[fallthrough]];
    case 1:
        lanes[0] += x[0] * y[0];
    }
    return total(lanes);
}

Range part([[maybe_unused]] size_t n, [[maybe_unused]] size_t parts,
           [[maybe_unused]] size_t index) {
    const size_t length = n / parts, rest = n % parts;
    const size_t begin = index * length + (index < rest ? index : rest);
    return {begin, begin + length + (index < rest ? 1 : 0)};
}

float parallel_dot([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                   [[maybe_unused]] size_t n, [[maybe_unused]] unsigned threads) {
    std::mutex mutex;
    std::condition_variable all;
    float sum = 0;
    unsigned left = threads;
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t)
        workers.push_back(std::thread([&, t]() {
            const Range r = part(n, threads, t);
            const float mine = dot(x + r.begin, y + r.begin, r.end - r.begin);
            std::lock_guard<std::mutex> lock(mutex);
            sum += mine;
            if (--left == 0) all.notify_one();
        }));
    float result;
    {
        std::unique_lock<std::mutex> lock(mutex);
        all.wait(lock, [&] { return left == 0; });
        result = sum;
    }
    for (auto& w : workers) w.join();
    return result;
}

bool agree([[maybe_unused]] float sum, [[maybe_unused]] double reference,
           [[maybe_unused]] double magnitude, [[maybe_unused]] size_t n) {
    return std::fabs(sum - reference) <= n * std::ldexp(1.0, -24) * magnitude;
}
