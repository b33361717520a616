// SPDX-License-Identifier: MIT
// Lesson 17, counting and collecting: no update is lost when all threads use one address, whatever
// their order.
//
// Tolerance: none. Counts and indexes are whole numbers.
#include "lesson_test.h"
#include "reference.h"
#include "watches/call_checks.h"

#include <algorithm>

namespace {

using CountAbove = void (*)(const float*, int, float, Count*);

void check_count(CountAbove count_it, const std::vector<float>& x, float limit, Count before) {
    const size_t n = x.size();
    CAPTURE(n, limit, before);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<Count> d_count(std::vector<Count>{before}, wb::guard(kGuard));
    count_it(d_x.get(), int(x.size()), limit, d_count.get());
    CUDA_CHECK(cudaGetLastError());
    const Count got = d_count.download()[0], want = before + indexes_above(x, limit).size();
    const bool count_right = got == want;
    {
        INFO("the count was " << before << ", and " << want - before << " of " << n
                              << " elements are above " << limit << ": got " << got << ", want "
                              << want);
        CHECK(count_right);
    }
    const auto counted = [&](auto&& weight) {
        Count sum = before;
        for (size_t i = 0; i < n; ++i) sum += weight(i);
        return std::vector{sum};
    };
    const auto above = [&](size_t i) { return Count(x[i] > limit); };
    const auto in_warp = [&](size_t i) {  // how many of the warp of element i are above
        Count sum = 0;
        for (size_t k = i / 32 * 32; k < std::min(n, i / 32 * 32 + 32); ++k) sum += above(k);
        return sum;
    };
    wb::recognize<Count>(
        {got},
        {want},
        {{"elements equal to the limit are counted as well",
          [&] { return counted([&](size_t i) { return Count(x[i] >= limit); }); }},
         {"elements that are only just above the limit are not counted",
          [&] { return counted([&](size_t i) { return Count(x[i] > limit + 1e-4f); }); }},
         {"elements below the limit are counted",
          [&] { return counted([&](size_t i) { return Count(x[i] < limit); }); }},
         {"the previous count is lost", [&] { return std::vector{want - before}; }},
         {"the counter has 32 bits", [&] { return std::vector{Count(unsigned(want))}; }},
         {"the counter has 32 bits",
          [&] { return std::vector{before >> 32 << 32 | Count(unsigned(want))}; }},
         {"every thread of a block adds what all of them have counted",
          [&] { return std::vector{before + 256 * (want - before)}; }},
         {"only the first warp of each block is counted",
          [&] { return counted([&](size_t i) { return i % 256 < 32 ? above(i) : 0; }); }},
         {"a warp counts as one: the updates of its other lanes are lost, or never made",
          [&] { return counted([&](size_t i) { return Count(i % 32 == 0 && in_warp(i) > 0); }); }},
         {"only lane 0 of each warp is counted",
          [&] { return counted([&](size_t i) { return i % 32 ? 0 : above(i); }); }},
         {"each lane of a warp adds the votes of all",
          [&] {
              Count sum = before;  // lanes past the end vote and add, too
              for (size_t i = 0; i < n; i += 32) sum += 32 * in_warp(i);
              return std::vector{sum};
          }},
         {"the votes themselves are added, a bit for each lane, instead of their number",
          [&] { return counted([&](size_t i) { return above(i) << i % 32; }); }}});
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_count.intact());
}

void check_counts(CountAbove count_it) {
    for (const int n : kSizes) check_count(count_it, wb::random_floats(n, 10 + n), 0.25f, 0);
    // Half of the elements are equal to the limit, which is not above it.
    std::vector<float> steps(3001);
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = float(wb::random_ints(1, i, 0, 3)[0]);
    check_count(count_it, steps, 1.0f, 0);
    // The next float is above.
    for (size_t i = 0; i < steps.size(); ++i)
        steps[i] = i % 3 ? 0.25f : std::nextafter(0.25f, i % 2 ? 1.0f : 0.0f);
    check_count(count_it, steps, 0.25f, 0);
}

void check_large_counts(CountAbove count_it) {
    const std::vector<float> x(10, 1.0f);
    check_count(count_it, x, 0.0f, (Count(1) << 32) - 5);  // to 2^32 + 5
    check_count(count_it, wb::random_floats(1000, 2), 0.0f, (Count(1) << 40) - 7);
}

void check_collect(const std::vector<float>& x, float limit) {
    const size_t n = x.size();
    CAPTURE(n, limit);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_out(x.size(), wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> d_count(1, wb::guard(kGuard));
    collect_above(d_x.get(), int(x.size()), limit, d_out.get(), d_count.get());
    CUDA_CHECK(cudaGetLastError());
    auto want = indexes_above(x, limit);
    const unsigned found = d_count.download()[0];
    const bool number_right = found == want.size();
    {
        INFO("d_count[0] for " << n << " elements: got " << found << ", want " << want.size());
        CHECK(number_right);
    }
    auto got = d_out.download();
    const auto by_place = [&](auto&& place) {  // the output, if index k went to place(k)
        std::vector<int> out(x.size(), -1);
        for (size_t k = 0; k < want.size(); ++k)
            if (place(k) < out.size()) out[place(k)] = want[k];
        return out;
    };
    wb::recognize<int>(
        got,
        by_place([](size_t k) { return k; }),
        {{"each index is stored at its own position: the slot is the number that the atomic "
          "returns",
          [&, indexes = want] { return by_place([&](size_t k) { return size_t(indexes[k]); }); }},
         {"the first slot stays empty: the atomic returns the value before the addition",
          [&] { return by_place([](size_t k) { return k + 1; }); }},
         {"the elements are stored, cut to whole numbers, instead of their indexes", [&] {
              std::vector<int> out(x.size(), -1);
              for (size_t k = 0; k < want.size(); ++k) out[k] = int(x[want[k]]);
              return out;
          }}});
    std::sort(got.begin(), got.begin() + want.size());  // any order is right
    want.resize(x.size(), -1);                          // the slots that must not change
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "sorted entry");
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_out.intact());
    CHECK(d_count.intact());
}

}  // namespace

TEST_CASE("task 1: 4096 threads count to 4096", "[task1]") {
    check_count(count_above, std::vector<float>(4096, 1.0f), 0.0f, 0);
}

TEST_CASE("task 1: counts in arrays of any length", "[task1]") {
    check_counts(count_above);
}

TEST_CASE("task 1: counts beyond 32 bits, and adds to what is there", "[task1]") {
    check_large_counts(count_above);
}

TEST_CASE("task 1: more elements than a thousand blocks have threads", "[task1]") {
    check_count(count_above, wb::random_floats(300001, 5), 0.25f, 0);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    wb::DeviceBuffer<float> d_x(wb::random_floats(100, 4));
    wb::DeviceBuffer<Count> d_count(std::vector<Count>{0});
    wb::check_refused_launch("count_above",
                             [&] { count_above(d_x.get(), 100, 0.5f, d_count.get()); });
}

TEST_CASE("task 1: launches nothing for no elements", "[task1]") {
    wb::DeviceBuffer<Count> d_count(std::vector<Count>{7});
    const auto counted = wb::count([&] { count_above(nullptr, 0, 0.5f, d_count.get()); });
    if (counted) CHECK(counted->launches == 0);
    check_count(count_above, {1.0f, 0.0f, 2.0f}, 0.5f, 0);
}

TEST_CASE("task 2: collects from arrays of any length, in any order", "[task2]") {
    for (const int n : kSizes) check_collect(wb::random_floats(n, 20 + n), 0.25f);
}

TEST_CASE("task 2: collects all elements, or none", "[task2]") {
    check_collect(std::vector<float>(5000, 2.0f), 1.0f);
    check_collect(std::vector<float>(5000, 1.0f), 1.0f);
    check_collect(std::vector<float>(5000, std::nextafter(1.0f, 2.0f)), 1.0f);
}

TEST_CASE("task 3: 4096 threads count to 4096", "[task3]") {
    check_count(count_above_by_warps, std::vector<float>(4096, 1.0f), 0.0f, 0);
}

TEST_CASE("task 3: counts in arrays of any length", "[task3]") {
    check_counts(count_above_by_warps);
}

TEST_CASE("task 3: counts beyond 32 bits, and adds to what is there", "[task3]") {
    check_large_counts(count_above_by_warps);
}
