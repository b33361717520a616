// SPDX-License-Identifier: MIT
// Lesson 19: each level of the reduction is complete, whatever the operation, and always the same.
#include "cases/shared_work.h"
#include "checks.h"

#include <algorithm>

namespace {

// Elements in the efficiency tests.
constexpr int kCount = 500009;

// The counters of one grid-wide sum.
std::optional<wb::Counters> counted_sum() {
    wb::DeviceBuffer<float> d_x(wb::random_floats(kCount, 1));
    wb::DeviceBuffer<double> d_scratch(kScratchBytes / sizeof(double)), d_result(1);
    return wb::count([&] { sum(d_x.get(), kCount, d_scratch.get(), d_result.get()); });
}

}  // namespace

TEST_CASE("task 1: sums each 32 elements", "[task1]") {
    for (const int n : {32, 64, 256, 1024, 8192}) check_warp_sums(n);
}

TEST_CASE("task 1: sums the elements of a warp that is not full", "[task1]") {
    for (const int n : {1, 2, 15, 16, 17, 31, 33, 255, 257, 1000}) check_warp_sums(n);
}

TEST_CASE("task 1: launches nothing for no elements", "[task1]") {
    const auto counted = wb::count([] { warp_sums(nullptr, nullptr, 0); });
    if (counted) CHECK(counted->launches == 0);
    check_warp_sums(40);
}

TEST_CASE("task 2: sums five rows of 1024", "[task2]") {
    check_row_sums(5, 1024);
}

TEST_CASE("task 2: sums rows with blocks of one warp to 32 warps", "[task2]") {
    for (const int cols : {1, 31, 32, 33, 64, 65, 96, 100, 255, 256, 257, 500, 992, 993, 1024})
        check_row_sums(3, cols);
}

TEST_CASE("task 2: sums rows that are longer than a block", "[task2]") {
    for (const int cols : {1025, 2047, 5000, 100003}) check_row_sums(2, cols);
}

TEST_CASE("task 3: sums whole numbers exactly, also beyond 2^24", "[task3]") {
    for (const int n : kSizes) {
        CAPTURE(n);
        const auto x = whole_numbers(n, 300 + n, 1, 1 << 20);
        const double got = reduced<double>(x, sum), want = exact_sum(x);
        check_result("the sum", n, got, want);
        const auto counted = [&](auto&& times) {
            double total = 0;
            for (int i = 0; i < n; ++i) total += times(i) * x[i];
            return std::vector{total};
        };
        const int blocks = std::min((n + kThreads - 1) / kThreads, kMaxBlocks);
        wb::recognize<double>(
            {got},
            {want},
            {{"each thread takes one element, and elements past the grid are left out",
              [&] { return counted([](int i) { return i < kMaxBlocks * kThreads; }); }},
             {"threads move on by the size of a block: several blocks take the same elements",
              [&] { return counted([&](int i) { return std::min(i / kThreads + 1, blocks); }); }},
             {"each element is added once by every block",
              [&] { return counted([&](int) { return blocks; }); }},
             {"only the first warp of each block is in the sum",
              [&] { return counted([](int i) { return i % kThreads < 32; }); }},
             {"only thread 0 of each block is in the sum: the block is not reduced",
              [&] { return counted([](int i) { return i % kThreads == 0; }); }},
             {"every thread begins with element 0 instead of the identity", [&] {
                  return std::vector{want + (n ? double(blocks) * kThreads * double(x[0]) : 0)};
              }}});
    }
}

TEST_CASE("task 3: sums very many ones", "[task3]") {
    const int n = wb::on_emulator() ? (1 << 20) + 1 : 100000000;
    check_result<double>("the sum", n, reduced<double>(std::vector<float>(n, 1.0f), sum), n);
}

TEST_CASE("task 3: sums fractions as well as double allows", "[task3]") {
    const auto x = wb::random_floats(100003, 31);
    double magnitude = 0;
    for (const float value : x) magnitude += std::fabs(value);
    const double bound = x.size() * kUlp * magnitude;
    CHECK_ARRAYS(
        std::vector{reduced<double>(x, sum)},
        std::vector{exact_sum(x)},
        [&](size_t) { return bound; },
        "sum");
}

TEST_CASE("task 3: sums with weights", "[task3]") {
    for (const int n : kSizes) {
        CAPTURE(n);
        const auto x = wb::random_floats(n, 400 + n), w = wb::random_floats(n, 500 + n);
        long double want = 0;
        double magnitude = 0;
        for (int i = 0; i < n; ++i) {
            want += double(x[i]) * w[i];
            magnitude += std::fabs(double(x[i]) * w[i]);
        }
        CHECK_ARRAYS(
            std::vector{weighted(x, w)},
            std::vector{double(want)},
            [&](size_t) { return n * kUlp * magnitude; },
            "weighted sum");
    }
}

TEST_CASE("task 3: gives the same bits in every run", "[task3]") {
    const auto x = wb::random_floats(150001, 33, -1e6f, 1e6f);
    const double first = reduced<double>(x, sum);
    CHECK_ARRAYS(
        std::vector{first}, std::vector{exact_sum(x)}, [](size_t) { return 1.0; }, "sum");
    for (int run = 1; run < 10; ++run) {
        const double again = reduced<double>(x, sum);
        const bool same_bits = again == first;
        INFO("run 0 got " << wb::shown(first, 17) << ", run " << run << " got "
                          << wb::shown(again, 17));
        CHECK(same_bits);
    }
}

TEST_CASE("task 4: takes the root of the sum of squares", "[task4]") {
    check_norm({3.0f, -4.0f});
    for (const int n : kSizes) check_norm(wb::random_floats(n, 600 + n));
}

TEST_CASE("task 4: squares of large and small floats fit", "[task4]") {
    check_norm(wb::random_floats(1000, 41, 1e30f, 3e38f));
    check_norm(wb::random_floats(1000, 42, 1e-30f, 1e-29f));
}

TEST_CASE("task 5: finds the smallest element", "[task5]") {
    for (const int n : kSizes) check_minimum(wb::random_floats(n, 700 + n));
}

TEST_CASE("task 5: finds the smallest of positive numbers", "[task5]") {
    for (const int n : {1, 31, 255, 1000, 70001})
        check_minimum(wb::random_floats(n, 51, 5.0f, 9.0f));
    check_minimum(std::vector<float>(300, 3e38f));
    check_minimum(std::vector<float>(300, kInfinity));
    check_minimum({kInfinity, -kInfinity, 0.0f});
    check_minimum({0.0f, -0.0f, 1.0f});
}

TEST_CASE("task 5: a NaN anywhere makes the smallest a NaN", "[task5]") {
    const auto x = wb::random_floats(5000, 52, 1.0f, 2.0f);
    for (const size_t place : {0, 1, 31, 32, 255, 256, 4999}) {
        CAPTURE(place);
        check_nan(with(x, {place}, kNan), place);
        check_nan(with(x, {place, 77}, -kNan), place);
    }
    check_nan({kNan}, 0);
    check_minimum(x);
}

TEST_CASE("task 6: finds where the largest element is", "[task6]") {
    for (const int n : kSizes) check_arg_max(wb::random_floats(n, 800 + n));
}

TEST_CASE("task 6: finds where the largest of negative numbers is", "[task6]") {
    for (const int n : {1, 31, 255, 1000, 70001})
        check_arg_max(wb::random_floats(n, 61, -9.0f, -5.0f));
    check_arg_max(std::vector<float>(300, -kInfinity));
}

TEST_CASE("task 6: finds the first of several, and of NaNs", "[task6]") {
    const auto x = wb::random_floats(70001, 62);
    check_arg_max(with(x, {70000, 900, 33}, 2.0f));
    check_arg_max(with(x, {65536, 5000}, kNan));
    check_arg_max(with(with(x, {2}, kInfinity), {40000, 40001}, -kNan));
    check_arg_max(std::vector<float>(1000, 1.0f));
    check_arg_max({-1.0f, -0.0f, 0.0f});
}

TEST_CASE("efficient: a warp needs no shared memory and no barrier",
          "[efficient][task1][task2][task3]") {
    wb::DeviceBuffer<float> d_in(whole_numbers(kCount, 2)), d_out((kCount + 31) / 32);
    const auto counted = wb::count([&] { warp_sums(d_in.get(), d_out.get(), kCount); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_bytes == sizeof(float) * kCount);
    CHECK(counted->global_store_bytes == sizeof(float) * ((kCount + 31) / 32));
    CHECK(counted->shared_store_requests + counted->shared_atomics == 0);
    CHECK(counted->block_barriers == 0);
    CHECK(counted->global_atomics == 0);
    CHECK(counted->warp_syncs <= 10 * counted->warps);  // five shuffles of two words each
}

TEST_CASE("efficient: the sum loads each number once, side by side, in two launches",
          "[efficient][task1][task2][task3]") {
    const auto counted = counted_sum();
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 2);
    CHECK(counted->global_load_bytes >= sizeof(float) * kCount);
    CHECK(counted->global_load_bytes <= sizeof(float) * kCount + kScratchBytes);
    // Where the share of a block begins within a sector, its warps touch five instead of four.
    CHECK(counted->global_load_sectors <= kCount / 32 * 5 + 1 + kScratchBytes / 32);
    CHECK(counted->threads <= uint64_t(kMaxBlocks + 1) * 1024);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: each warp stores one value to shared memory",
          "[efficient][task1][task2][task3]") {
    const auto counted = counted_sum();
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes > 0);
    // One store for each warp, and one more to prepare the slots.
    CHECK(counted->shared_store_requests <= counted->warps + counted->blocks);
    CHECK(counted->shared_load_conflicts + counted->shared_store_conflicts == 0);
}

TEST_CASE("efficient: at most two barriers for each block", "[efficient][task1][task2][task3]") {
    const auto counted = counted_sum();
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes > 0);
    CHECK(counted->block_barriers <= 2 * counted->blocks);
}

TEST_CASE("efficient: no atomics", "[efficient][task1][task2][task3]") {
    const auto counted = counted_sum();
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes > 0);
    CHECK(counted->global_atomics + counted->shared_atomics == 0);
}

TEST_CASE("efficient: all lanes share the additions of a block",
          "[efficient][task1][task2][task3]") {
    const auto grid = counted_sum();
    NEED_COUNTERS(grid);
    // Two launches: 250 to 400 instructions together where a thread has 2 or 32 numbers, up to 700
    // where it has 32 and the block adds by a tree in shared memory. A thread that adds its block's
    // 256 values needs 800 in each launch, one that adds the grid's 1,024 needs 3,000.
    wb::check_shared_work(*grid, kCount / 32, 20, 900);
    wb::DeviceBuffer<float> d_in(whole_numbers(kCount, 3)), d_out(kCount / 1000);
    const auto rows = wb::count([&] { row_sums(d_in.get(), d_out.get(), kCount / 1000, 1000); });
    NEED_COUNTERS(rows);
    // 100 to 200 instructions for a block's share of a row, 350 for a warp with a whole row. A
    // thread that adds its block's 256 values needs 900, one that adds a row 3,000.
    wb::check_shared_work(*rows, kCount / 32, 20, 600);
}
