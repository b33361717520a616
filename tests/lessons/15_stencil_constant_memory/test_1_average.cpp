// SPDX-License-Identifier: MIT
// Lesson 15, the moving average: each output is computed from the neighbours that exist.
#include "checks.h"
#include "watches/call_checks.h"

#include <algorithm>

namespace {

Reference averages(const std::vector<float>& in, int window) {
    const int n = int(in.size());
    Reference want{std::vector<float>(n), std::vector<double>(n)};
    for (int i = 0; i < n; ++i) {
        const int first = std::max(0, i - window + 1), count = i - first + 1;
        double sum = 0, magnitude = 0;
        for (int j = first; j <= i; ++j) {
            sum += in[j];
            magnitude += std::fabs(in[j]);
        }
        want.value[i] = float(sum / count);
        want.bound[i] = (count + 2) * kUlp * magnitude / count;
    }
    return want;
}

// A moving average with another divisor, or with the window `shift` elements further right.
std::vector<float> averages_by(const std::vector<float>& in, int window,
                               std::function<double(int i, int count)> divisor, int shift = 0) {
    const int n = int(in.size());
    std::vector<float> out;
    for (int i = 0; i < n; ++i) {
        const int last = i + shift, first = last - window + 1;
        double sum = 0;
        for (int j = std::max(0, first); j <= std::min(last, n - 1); ++j) sum += in[j];
        out.push_back(float(sum / divisor(i, std::min(window, i + 1))));
    }
    return out;
}

void check_average(const std::vector<float>& in, int window, int threads) {
    const size_t n = in.size();
    CAPTURE(n, window, threads);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_out(in.size(), wb::guard(kGuard));
    moving_average(d_in.get(), d_out.get(), int(in.size()), window, threads);
    CUDA_CHECK(cudaGetLastError());
    const auto got = d_out.download();
    const Reference want = averages(in, window);
    check_close(got, want);
    wb::recognize<float>(
        got,
        want.value,
        {{"the short windows at the start are divided by the full width",
          [&] { return averages_by(in, window, [&](int, int) { return window; }); }},
         {"the window of element i is counted as i elements: element 0 counts as well",
          [&] { return averages_by(in, window, [&](int i, int) { return std::min(window, i); }); }},
         {"the number of a thread in its block is used as the number of its element in the array",
          [&] {
              return averages_by(
                  in, window, [&](int i, int) { return std::min(window, i % threads + 1); });
          }},
         {"the window is one element too far to the left",
          [&] {
              return averages_by(
                  in, window, [](int, int count) { return count; }, -1);
          }},
         {"the window begins at element i instead of ending there",
          [&] {
              return averages_by(
                  in, window, [](int, int count) { return count; }, window - 1);
          }},
         {"computed in whole numbers: fractions are lost",
          [&] {
              std::vector<float> out;
              for (int i = 0; i < int(in.size()); ++i) {
                  int sum = 0;
                  for (int j = std::max(0, i - window + 1); j <= i; ++j)
                      sum = int(float(sum) + in[j]);
                  out.push_back(float(sum / std::min(window, i + 1)));
              }
              return out;
          }},
         {"the sum is not divided by anything",
          [&] { return averages_by(in, window, [](int, int) { return 1; }); }}},
        [&](size_t i) { return want.bound[i]; });
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

}  // namespace

TEST_CASE("task 1: averages five numbers with a window of three", "[task1]") {
    check_average({1, 2, 3, 4, 5}, 3, 32);  // 1, 1.5, 2, 3, 4
    check_average({9, -2.5f, 0.25f, 40, -7.75f}, 4, 32);
}

TEST_CASE("task 1: averages arrays of any length", "[task1]") {
    for (const int n : kSizes)
        for (const int threads : {32, 256}) check_average(wb::random_floats(n, n), 7, threads);
}

TEST_CASE("task 1: a window of one is the element itself", "[task1]") {
    check_average(wb::random_floats(1000, 2), 1, 256);
}

TEST_CASE("task 1: the window may be wider than the block, and than the array", "[task1]") {
    for (const int window : {32, 33, 64, 65, 100, 1000, kMaxWindow}) {
        check_average(wb::random_floats(333, window), window, 32);
        check_average(wb::random_floats(3, window), window, 64);
    }
    check_average(wb::random_floats(3000, 5), kMaxWindow, 100);
    check_average(wb::random_floats(3000, 6), kMaxWindow, 1024);
}

TEST_CASE("task 1: blocks of any size", "[task1]") {
    for (const int threads : {1, 2, 7, 31, 33, 100, 511, 512, 513, 1023, 1024}) {
        check_average(wb::random_floats(2600, threads), 12, threads);
        check_average(wb::random_floats(40, threads), 600, threads);
    }
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(100, 7)), d_out(100);
    wb::check_refused_launch("moving_average",
                             [&] { moving_average(d_in.get(), d_out.get(), 100, 3, 32); });
}

TEST_CASE("task 1: launches nothing for an empty array", "[task1]") {
    wb::DeviceBuffer<float> d_in(0), d_out(0);
    const auto counted = wb::count([&] { moving_average(d_in.get(), d_out.get(), 0, 3, 256); });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counted) CHECK(counted->launches == 0);
}
