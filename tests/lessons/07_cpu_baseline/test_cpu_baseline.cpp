// SPDX-License-Identifier: MIT
// Lesson 07: sums that a CPU can vectorise, threads that share nothing, and a comparison with a
// bound.
//
// Tolerance: a float sum of n products in any order is off by at most n * 2^-24 times the sum of
// the products' absolute values, to first order (Higham, "Accuracy and Stability of Numerical
// Algorithms", section 4.2); the reference is a sum in double. Threads are judged by what they do
// (common/harness/watches/thread_watch.h), not by their speed.
#include "cpu_baseline.h"
#include "lesson_test.h"
#include "watches/thread_hooks.h"

#include <cmath>
#include <limits>

namespace {

struct Reference {
    double sum = 0, magnitude = 0;
};

Reference reference(const std::vector<float>& x, const std::vector<float>& y) {
    Reference result;
    for (size_t i = 0; i < x.size(); ++i) {
        const double product = double(x[i]) * y[i];
        result.sum += product;
        result.magnitude += std::fabs(product);
    }
    return result;
}

// What a wrong sum of x[i] * y[i] is instead: ", which is ...".
std::string known(double got, const std::vector<float>& x, const std::vector<float>& y,
                  size_t threads) {
    const size_t n = x.size(), whole = n / kLanes * kLanes;
    if (std::isnan(got))
        return ", which cannot be a sum of these numbers: memory past their end was read";
    double groups = 0, but_one = 0, plain = 0, last = 0, lane = 0, cut = 0;
    for (size_t i = 0; i < n; ++i) {
        const double product = double(x[i]) * y[i];
        if (i < whole) groups += product;
        if (whole && i < whole - kLanes) but_one += product;
        plain += x[i];
        if (i + kLanes >= n) last += product;
        if (i % kLanes == 0) lane += product;
        cut += std::trunc(product);
    }
    double from_start = 0;  // as many first elements of y as each part of x has
    for (size_t t = 0, begin = 0; t < threads; ++t) {
        const size_t length = n / threads + (t < n % threads);
        for (size_t i = 0; i < length; ++i) from_start += double(x[begin + i]) * y[i];
        begin += length;
    }
    const std::pair<double, const char*> others[] = {
        {from_start, ": every part of x is multiplied by the first elements of y"},
        {groups, ", which is the sum of the whole groups of 8: the remainder is missing"},
        {but_one, ", from which the last group of 8 is missing"},
        {plain, ", which is the sum of x, not of products"},
        {last, ", which is the sum of the last 8 products: = where += is meant?"},
        {lane, ", which is the first of the 8 sums"},
        {cut, ", as if each product were truncated to an integer"}};
    for (const auto& [value, words] : others)
        if (value != 0 && std::fabs(got - value) <= 1e-5 * std::fabs(value)) return words;
    return "";
}

// `chain`: how many additions follow one another at most; 0: all. `threads`: how many share them.
void check_sum(float got, const std::vector<float>& x, const std::vector<float>& y,
               size_t chain = 0, size_t threads = 0) {
    const Reference want = reference(x, y);
    if (x.empty()) {
        INFO("the sum of no products: got "
             << got << (std::isnan(got) ? ", so memory past the end was read" : "") << ", want 0");
        const bool sum_of_nothing_is_zero = got == 0;
        CHECK(sum_of_nothing_is_zero);
        return;
    }
    const double bound = double((chain ? chain : x.size()) + 1) * 0x1p-24 * want.magnitude;
    const bool within = std::fabs(got - want.sum) <= bound;
    INFO("got " << got << (within ? "" : known(got, x, y, threads)) << ", want " << want.sum
                << " within " << bound << ", of " << x.size() << " products");
    CHECK(std::fabs(got - want.sum) <= bound);
}

// Eight products of 2^24, all in the sum of the elements 0, 8, 16, ..., and 7992 of 1. A single
// float sum that begins with a large one loses all the others, since 2^24 + 1 is not a float. Of
// kLanes sums one does, and of eight sums over a stretch of 1000 elements each, all do.
struct Large {
    std::vector<float> x = std::vector<float>(8000, 1.0f);
    Large() {
        for (size_t k = 0; k < 8; ++k) x[1000 * k] = 4096;
    }
    void check(float got) const {
        const double others = double(got) - 0x1p27;
        std::ostringstream shown;
        if (std::fabs(others) < 0x1p26)
            shown << "2^27 + " << others;
        else
            shown << got;
        INFO("got " << shown.str() << ", want 2^27 + 7000: one of the " << kLanes
                    << " sums has the large products, the others have 7000 products of 1");
        CHECK(others >= 6900);
        CHECK(others <= 8100);
    }
};

// A product of 2^54 and one of -2^54, which meet in the first sum; the others stay as they are, in
// float. In one sum for all they are lost, also in double: 2^54 + 1 is not a double.
void check_large_of_both_signs() {
    std::vector<float> x(8001, 1.0f), y(8001, 1.0f);
    x[0] = y[0] = 0x1p27f;
    x[7936] = 0x1p27f;
    y[7936] = -0x1p27f;
    const double got = dot(x.data(), y.data(), x.size());
    INFO("products of 2^54 and -2^54 belong to one of the "
         << kLanes << " sums, 7000 products of 1 to the others: got " << got << ", want 7000");
    CHECK(got >= 6900);
    CHECK(got <= 8000);
}

const std::vector<size_t> kSizes{0, 9, 15, 16, 1, 7, 8, 33, 1000};

// Asks for all parts, up to a million of them, but asserts only of the first wrong one: an
// assertion for each part would take longer than all the rest of this file.
void check_parts(size_t n, size_t parts) {
    CAPTURE(n, parts);
    size_t next = 0, shortest = n, longest = 0;
    for (size_t index = 0; index < parts; ++index) {
        const Range range = part(n, parts, index);
        const bool starts_where_the_last_ended = range.begin == next;
        const bool ends_behind_its_begin = range.end >= range.begin;
        if (!starts_where_the_last_ended || !ends_behind_its_begin) {
            INFO("part " << index << " is [" << range.begin << ", " << range.end
                         << "), and the parts before it end at " << next);
            CHECK(starts_where_the_last_ended);
            CHECK(ends_behind_its_begin);
            return;
        }
        next = range.end;
        shortest = std::min(shortest, range.end - range.begin);
        longest = std::max(longest, range.end - range.begin);
    }
    {
        INFO("the parts end at " << next << ", want " << n);
        CHECK(next == n);
    }
    INFO("the lengths of the parts are " << shortest << " to " << longest
                                         << ", want a difference of 1 at most");
    CHECK(longest - shortest <= 1);
}

std::vector<float> numbers(size_t n, uint64_t seed) {
    return wb::random_floats(n, seed, -1.0f, 3.0f);
}

// An array with NaN after its last element, which must not be read.
struct Fenced {
    Fenced(size_t n, uint64_t seed) : values(numbers(n, seed)), memory(values) {
        memory.resize(n + 32, std::numeric_limits<float>::quiet_NaN());
    }
    std::vector<float> values, memory;
};

constexpr size_t kWatched = 20011;

// What one call of parallel_dot does.
struct Watched {
    explicit Watched(unsigned threads) : x(numbers(kWatched, 91)), y(numbers(kWatched, 92)) {
        watch.input(x.data(), x.size());
        watch.input(y.data(), y.size());
        sum = parallel_dot(x.data(), y.data(), x.size(), threads);
    }
    std::vector<float> x, y;
    wb::ThreadWatch watch;
    float sum = 0;
};

// Whether `agree` says what it must.
void check_agree(float sum, double reference, double magnitude, size_t n, bool want) {
    const bool got = agree(sum, reference, magnitude, n);
    INFO("sum " << sum << ", reference " << reference << ", magnitude " << magnitude << ", n " << n
                << ": off by " << std::fabs(sum - reference) << ", the bound is "
                << double(n) * 0x1p-24 * magnitude << ", and agree says " << (got ? "yes" : "no"));
    const bool right_answer = got == want;
    CHECK(right_answer);
}

}  // namespace

TEST_CASE("task 1: sums squares of any number of elements", "[task1]") {
    for (const size_t n : kSizes) {
        const Fenced x(n, 10 + n);
        check_sum(sum_squares(x.memory.data(), n), x.values, x.values);
    }
}

TEST_CASE("task 1: keeps eight sums side by side", "[task1]") {
    const Large large;
    large.check(sum_squares(large.x.data(), large.x.size()));
}

TEST_CASE("task 2: sums products of any number of elements", "[task2]") {
    for (const size_t n : kSizes) {
        const Fenced x(n, 20 + n), y(n, 40 + n);
        check_sum(dot(x.memory.data(), y.memory.data(), n), x.values, y.values);
    }
}

TEST_CASE("task 2: keeps eight sums side by side", "[task2]") {
    const Large large;
    large.check(dot(large.x.data(), large.x.data(), large.x.size()));
    check_large_of_both_signs();
}

TEST_CASE("task 3: cuts a range into parts that hold each element once", "[task3]") {
    for (const size_t n : {0, 1, 7, 8, 1000, 1001})
        for (const size_t parts : {size_t(1), size_t(2), size_t(3), size_t(8), n + 1})
            check_parts(n, parts);
}

TEST_CASE("task 3: stays exact for many elements", "[task3]") {
    check_parts(10000000, 7);
    check_parts((size_t(1) << 40) - 1, 1000);
    check_parts((size_t(1) << 40) - 1, (size_t(1) << 20) - 1);
    check_parts(size_t(1) << 40, size_t(1) << 20);
}

TEST_CASE("task 4: no two threads race for one address", "[task4]") {
    for (const unsigned threads : {2, 3, 8}) {
        CAPTURE(threads);
        const Watched run(threads);
        for (const std::string& race : run.watch.races()) {
            INFO(race);
            CHECK(race.empty());
        }
        {
            INFO(run.watch.not_joined()
                 << " of " << run.watch.started
                 << " threads had not been joined when the sum was returned");
            CHECK(run.watch.not_joined() == 0);
        }
        check_sum(run.sum, run.x, run.y, 0, threads);
    }
}

TEST_CASE("task 4: the sum is that of one thread, for any number of threads", "[task4]") {
    for (const size_t n : {0, 1, 7, 1023})
        for (const size_t threads : {size_t(1), size_t(2), size_t(3), size_t(8), n + 1}) {
            CAPTURE(threads);
            const Fenced x(n, 60 + n), y(n, 70 + n);
            check_sum(parallel_dot(x.memory.data(), y.memory.data(), n, unsigned(threads)),
                      x.values,
                      y.values);
        }
}

TEST_CASE("task 4: ten million products", "[task4]") {
    const size_t n = 10000000;
    const auto x = numbers(n, 81), y = numbers(n, 82);
    for (const unsigned threads : {1, 3, 8}) {
        CAPTURE(threads);
        check_sum(
            parallel_dot(x.data(), y.data(), n, threads), x, y, n / kLanes + kLanes + threads);
    }
}

TEST_CASE("task 4: the threads work at the same time", "[task4]") {
    for (const unsigned threads : {2, 3, 8}) {
        CAPTURE(threads);
        const Watched run(threads);
        check_sum(run.sum, run.x, run.y, 0, threads);
        const std::string serial = run.watch.one_after_the_other();
        INFO(run.watch.started << (run.watch.started == 1 ? " thread was" : " threads were")
                               << " started, want " << threads << " (or " << threads - 1
                               << " if the calling one takes a part)"
                               << (serial.empty() ? "" : "; " + serial));
        CHECK(run.watch.started + 1 >= threads);
        CHECK(run.watch.started <= threads);
        CHECK(serial.empty());
    }
}

TEST_CASE("task 4: no thread does more than its part", "[task4]") {
    for (const unsigned threads : {2, 3, 8}) {
        CAPTURE(threads);
        const Watched run(threads);
        const size_t share = 2 * (kWatched / threads + 1);
        for (size_t t = 0; t < run.watch.reads_by_thread().size(); ++t) {
            const size_t reads = run.watch.reads_by_thread()[t];
            INFO("thread " << t << " reads " << reads << " numbers, its part has " << share
                           << " (thread 0 is the calling one)");
            CHECK(reads <= share + share * 3 / 4);  // reading again is not graded here
        }
    }
}

TEST_CASE("task 5: sums that differ by rounding agree", "[task5]") {
    check_agree(1.0f, 1.0 + 0x1p-24, 1.0, 2, true);
    check_agree(0.5f + 0x1p-24f, 0.5, 1.0, 1, true);  // off by exactly the bound
    check_agree(0.5f - 0x1p-24f, 0.5, 1.0, 1, true);
    check_agree(1000.01f, 1000.0, 4000.0, 100, true);
    const auto x = numbers(1000, 100), y = numbers(1000, 101);
    const Reference want = reference(x, y);
    float forward = 0, backward = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        forward += x[i] * y[i];
        backward += x[x.size() - 1 - i] * y[x.size() - 1 - i];
    }
    INFO("the test has lost its point: both orders give " << forward);
    CHECK(forward != backward);
    check_agree(forward, want.sum, want.magnitude, x.size(), true);
    check_agree(backward, want.sum, want.magnitude, x.size(), true);
}

TEST_CASE("task 5: sums that differ by more do not agree", "[task5]") {
    check_agree(1.001f, 1.0, 1.0, 10, false);
    check_agree(0.999f, 1.0, 1.0, 10, false);
    check_agree(-1.0f, 1.0, 1.0, 10, false);
    // In float the reference would be 1 + 2^-23, and the difference just the bound.
    check_agree(1.0f + 0x1p-22f, 1.0 + 1.01 * 0x1p-24, 1.0 + 1.01 * 0x1p-24, 2, false);
    const auto x = numbers(1000, 102), y = numbers(1000, 103);
    const Reference want = reference(x, y);
    check_agree(float(want.sum - x[999] * y[999] - 1), want.sum, want.magnitude, x.size(), false);
}

TEST_CASE("task 5: sums that cancel are compared with what was added", "[task5]") {
    check_agree(0.001f, 0.0, 1000.0, 100, true);  // 100 numbers, 1000 in all, that cancel
    check_agree(0.1f, 0.0, 1000.0, 100, false);
    check_agree(0.0f, 0.0, 0.0, 0, true);
}

TEST_CASE("task 5: NaN and infinity agree with nothing", "[task5]") {
    check_agree(std::numeric_limits<float>::quiet_NaN(), 1.0, 1.0, 10, false);
    check_agree(std::numeric_limits<float>::infinity(), 1.0, 1.0, 10, false);
    check_agree(1.0f, std::numeric_limits<double>::quiet_NaN(), 1.0, 10, false);
}

TEST_CASE("efficient: each number is read once", "[efficient][task2][task3][task4]") {
    const Watched run(8);
    for (const size_t input : {0, 1}) {
        const auto& reads = run.watch.reads(input);
        const size_t often = std::count_if(reads.begin(), reads.end(), [](int r) { return r > 1; });
        INFO(often << " of " << reads.size() << " numbers are read more than once");
        CHECK(often == 0);
    }
}

TEST_CASE("efficient: threads do not add in each other's cache lines",
          "[efficient][task2][task3][task4]") {
    const Watched run(8);
    const size_t writes = run.watch.writes_to_shared_lines(), most = kWatched / 20;
    INFO(writes << " writes go to cache lines that several threads write, for " << kWatched
                << " products; some at the end of each thread are fine, " << most
                << " are too many");
    CHECK(writes < most);
}

TEST_CASE("efficient: no kernel is launched, and nothing is copied to the device",
          "[efficient][task1][task2][task3][task4]") {
    const auto x = numbers(1000, 110);
    const auto counted = wb::count([&] {
        sum_squares(x.data(), x.size());
        parallel_dot(x.data(), x.data(), x.size(), 3);
    });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 0);
    CHECK(counted->host_to_device_bytes == 0);
}
