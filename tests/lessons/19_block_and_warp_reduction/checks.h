// SPDX-License-Identifier: MIT
// Checks of the values of lesson 19, and the mistakes that they recognise.
//
// Tolerance: none where the inputs are whole numbers, since all partial sums stay below 2^53 and
// are exact in double, in any order. Sums of fractions in double: n * 2^-53 * the sum of the
// magnitudes, as the interface promises; products of two floats are exact in double, and the
// reference is computed in long double. A norm: half of that bound on its square, and the root's
// rounding. Outputs and scratch start as NaN.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include "block_and_warp_reduction.h"
#include "lesson_test.h"

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kUlp = 0x1p-53;
constexpr int kSizes[] = {
    1, 2, 31, 32, 33, 63, 255, 256, 257, 1000, 1023, 8191, 8193, 65535, 65537, 262145, 300007, 0};

inline std::vector<float> whole_numbers(size_t n, uint64_t seed, int low = 1, int high = 8) {
    const auto random = wb::random_ints(n, seed, low, high);
    return {random.begin(), random.end()};
}

// The result of `work(x, n, scratch, result)` on a copy of the data, which must stay as they are.
template <class Result, class Work>
Result reduced(const std::vector<float>& x, Work work) {
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<double> d_scratch(kScratchBytes / sizeof(double), wb::guard(kGuard));
    wb::GuardedBuffer<Result> d_result(1, wb::guard(kGuard));
    work(d_x.get(), int(x.size()), d_scratch.get(), d_result.get());
    CUDA_CHECK(cudaGetLastError());
    const Result result = d_result.download()[0];
    const auto after = d_x.download();
    const bool input_unchanged =
        x.empty() || std::memcmp(after.data(), x.data(), x.size() * sizeof(float)) == 0;
    INFO("the input was changed, and must not be");
    CHECK(input_unchanged);
    CHECK(d_scratch.intact());
    CHECK(d_result.intact());
    return result;
}

inline double weighted(const std::vector<float>& x, const std::vector<float>& w) {
    wb::GuardedBuffer<float> d_w(w, wb::guard(kGuard));
    return reduced<double>(x, [&](const float* d_x, int n, void* d_scratch, double* d_result) {
        weighted_sum(d_x, d_w.get(), n, d_scratch, d_result);
    });
}

// What is computed from n elements, as a number or an index.
template <class T>
void check_result(const char* what, size_t n, T got, T want) {
    const bool right = got == want;
    INFO(what << " of " << n << " elements: got " << wb::shown(got, 17) << ", want "
              << wb::shown(want, 17));
    CHECK(right);
}

inline double exact_sum(const std::vector<float>& x) {
    return double(std::accumulate(x.begin(), x.end(), 0.0L));
}

inline void check_warp_sums(int n) {
    CAPTURE(n);
    const auto in = whole_numbers(n, 100 + n);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_out((n + 31) / 32, wb::guard(kGuard));
    warp_sums(d_in.get(), d_out.get(), n);
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> want(d_out.size(), 0.0f);
    for (int i = 0; i < n; ++i) want[i / 32] += in[i];
    const auto got = d_out.download();
    CHECK_ARRAYS(got, want);
    wb::check_unchanged(d_in.download(), in);
    const auto some = [&](auto&& lane_counts) {  // how often a lane's element is in the sum
        std::vector<float> out(want.size(), 0.0f);
        for (int i = 0; i < n; ++i) out[i / 32] += lane_counts(i % 32) * in[i];
        return out;
    };
    wb::recognize<float>(
        got,
        want,
        {{"only lane 0's element is in the sum",
          [&] { return some([](int lane) { return lane == 0; }); }},
         {"only every second element of a warp is in the sum",
          [&] { return some([](int lane) { return lane % 2 == 0; }); }},
         {"only the first half of each warp is in the sum: what is the first step?",
          [&] { return some([](int lane) { return lane < 16; }); }},
         {"one step too many, or too far: the sum of a warp is added to itself",
          [&] { return some([](int) { return 2; }); }}});
    CHECK(d_out.intact());
}

inline void check_row_sums(int rows, int cols) {
    CAPTURE(rows, cols);
    const auto in = whole_numbers(size_t(rows) * cols, 200 + cols);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_out(rows, wb::guard(kGuard));
    row_sums(d_in.get(), d_out.get(), rows, cols);
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> want(rows, 0.0f);
    for (size_t i = 0; i < in.size(); ++i) want[i / cols] += in[i];
    const auto got = d_out.download();
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "row");
    wb::check_unchanged(d_in.download(), in);
    const int threads = std::min((cols + 31) / 32 * 32, 1024);
    const auto some = [&](auto&& thread_counts) {
        std::vector<float> out(rows, 0.0f);
        for (size_t i = 0; i < in.size(); ++i)
            if (thread_counts(int(i % cols) % threads)) out[i / cols] += in[i];
        return out;
    };
    wb::recognize<float>(got,
                         want,
                         {{"only the first warp of the block is in the sum",
                           [&] { return some([](int thread) { return thread < 32; }); }},
                          {"only the first eight warps of the block are in the sum",
                           [&] { return some([](int thread) { return thread < 256; }); }},
                          {"only lane 0 of each warp is in the sum: are warps reduced first?",
                           [&] { return some([](int thread) { return thread % 32 == 0; }); }},
                          {"only thread 0's value is in the sum",
                           [&] { return some([](int thread) { return thread == 0; }); }}});
    CHECK(d_out.intact());
}

inline void check_norm(const std::vector<float>& x) {
    const size_t n = x.size();
    CAPTURE(n);
    double squares = 0;
    for (const float value : x) squares += double(value) * value;
    const double want = std::sqrt(squares), got = reduced<double>(x, norm);
    const double bound = (x.size() + 4) * kUlp * want;
    CHECK_ARRAYS(
        std::vector{got}, std::vector{want}, [&](size_t) { return bound; }, "norm");
    const auto sum_of = [&](auto&& map) {
        double sum = 0;
        for (const float value : x) sum += map(value);
        return std::vector{sum};
    };
    wb::recognize<double>(
        {got},
        {want},
        {{"the root is missing",
          [&] { return sum_of([](double value) { return value * value; }); }},
         {"the sum of the magnitudes: a root for each element instead of one for the sum",
          [&] { return sum_of([](double value) { return std::fabs(value); }); }},
         {"the plain sum: nothing is squared",
          [&] { return sum_of([](double value) { return value; }); }},
         {"the root of each block's sum is taken, and then of their sum: only one root is right",
          [&] {
              const size_t blocks = std::min<size_t>((n + kThreads - 1) / kThreads, kMaxBlocks);
              std::vector<double> sums(std::max<size_t>(blocks, 1));
              for (size_t i = 0; i < n; ++i)
                  sums[i / kThreads % sums.size()] += double(x[i]) * x[i];
              double sum = 0;
              for (const double part : sums) sum += std::sqrt(part);
              return std::vector{std::sqrt(sum)};
          }}},
        [&](size_t) { return bound; });
}

inline void check_minimum(const std::vector<float>& x) {
    const size_t n = x.size();
    CAPTURE(n);
    const float want = x.empty() ? kInfinity : *std::min_element(x.begin(), x.end());
    const float got = reduced<float>(x, minimum);
    check_result("the smallest", n, got, want);
    wb::recognize<float>(
        {got},
        {want},
        {{"0 is in the minimum, though it is no element: what is the identity?",
          [&] { return std::vector{std::min(want, 0.0f)}; }},
         {"the largest element",
          [&] { return std::vector{x.empty() ? want : *std::max_element(x.begin(), x.end())}; }},
         {"the first element", [&] { return std::vector{x.empty() ? want : x[0]}; }},
         {"-infinity: is it used as the identity?", [] { return std::vector{-kInfinity}; }},
         {"infinity: is the larger value kept, or are values added?",
          [] { return std::vector{kInfinity}; }},
         {"the identity is a finite number, and infinity is larger",
          [&] { return std::vector{got > 1e9f ? std::min(want, got) : want}; }}});
}

inline void check_arg_max(const std::vector<float>& x) {
    const size_t n = x.size();
    CAPTURE(n);
    int want = x.empty() ? -1 : int(std::max_element(x.begin(), x.end()) - x.begin());
    for (size_t i = x.size(); i-- > 0;)
        if (std::isnan(x[i])) want = int(i);
    const int got = reduced<int>(x, arg_max);
    check_result("the index of the largest", n, got, want);
    const bool numbers = std::none_of(x.begin(), x.end(), [](float v) { return std::isnan(v); });
    const auto lowest = std::min_element(x.begin(), x.end());
    wb::recognize<int>(
        {got},
        {want},
        {{"0 for no element, which is the index of the first one",
          [&] { return std::vector{x.empty() ? 0 : want}; }},
         {"-1, as if there were no element: is the identity above some keys?",
          [&] { return std::vector{-1}; }},
         {"the key itself is the result, instead of the index in it",
          [&] { return std::vector{n ? ~want : want}; }},
         {"the smallest element's index",
          [&] { return std::vector{numbers && n ? int(lowest - x.begin()) : want}; }},
         {"of several largest ones the last is found", [&] {
              int last = want;
              for (size_t i = 0; numbers && i < n; ++i)
                  if (x[i] == x[want]) last = int(i);
              return std::vector{last};
          }}});
}

// The element at `place` is a NaN.
inline void check_nan(const std::vector<float>& x, size_t place) {
    const float got = reduced<float>(x, minimum);
    const bool is_nan = std::isnan(got);
    INFO("the smallest of " << x.size() << " elements, of which element " << place
                            << " is a NaN: got " << got << ", want nan");
    CHECK(is_nan);
}

// `x` with some elements replaced by `value`.
inline std::vector<float> with(std::vector<float> x, std::initializer_list<size_t> places,
                               float value) {
    for (const size_t place : places) x[place] = value;
    return x;
}

}  // namespace
