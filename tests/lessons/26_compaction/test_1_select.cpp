// SPDX-License-Identifier: MIT
// Lesson 26, elements: exactly the elements that pass are kept, in their order, and counted.
#include "checks.h"

#include <algorithm>
#include <limits>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kLarge = (1 << 20) + 1;

// Compares an output in which each group of `group` elements is compacted on its own, and names the
// mistake that explains it.
void compare(const Floats& out, const Floats& x, size_t group) {
    std::vector<size_t> places;  // of kept elements in the output
    Floats want;
    for (size_t i = 0, place = 0; i < x.size(); ++i) {
        if (i % group == 0) place = i;
        if (!passes(x[i])) continue;
        places.push_back(place++);
        want.push_back(x[i]);
    }
    const auto at_places = [&](const Floats& all) {
        Floats values;
        for (const size_t place : places) values.push_back(all[place]);
        return values;
    };
    const Floats got = at_places(out);
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "kept element");
    const auto placed = [&](auto&& place_of) {  // of kept elements only
        Floats all(x.size(), kNan);
        size_t before = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            if (i % group == 0) before = 0;
            const size_t place = place_of(i, before);
            if (passes(x[i]) && place < x.size()) all[place] = x[i];
            before += passes(x[i]);
        }
        return at_places(all);
    };
    const auto begins_anew = [&](size_t every, bool at_0) {
        size_t kept = 0;
        return placed([&, every, at_0, kept](size_t i, size_t) mutable {
            if (i % every == 0) kept = 0;
            const size_t place = (at_0 ? 0 : i / group * group) + kept;
            kept += passes(x[i]);
            return place;
        });
    };
    wb::recognize<float>(
        got,
        want,
        {{"each element is stored at its old place: kept elements belong side by side",
          [&] { return placed([](size_t i, size_t) { return i; }); }},
         {"places begin at 1: an element counts itself",
          [&] {
              return placed(
                  [&](size_t i, size_t before) { return i / group * group + before + 1; });
          }},
         {"each warp begins anew: the counts of the warps before it are missing",
          [&] { return begins_anew(32, false); }},
         {"each round of a block begins anew: where is the carry?",
          [&] { return begins_anew(kThreads, true); }},
         {"each tile begins anew: where is its carry?", [&] { return begins_anew(kTile, true); }},
         {"every round begins at the tile's carry: the rounds before it are not added",
          [&] {
              size_t kept = 0, before_tile = 0, in_round = 0;
              return placed([&x, kept, before_tile, in_round](size_t i, size_t) mutable {
                  if (i % kTile == 0) before_tile = kept;
                  if (i % kThreads == 0) in_round = 0;
                  kept += passes(x[i]);
                  in_round += passes(x[i]);
                  return before_tile + in_round - passes(x[i]);
              });
          }},
         {"elements that fail the test are kept, and those that pass are not",
          [&] {
              Floats all(x.size(), kNan);
              for (size_t i = 0, place = 0; i < x.size(); ++i) {
                  if (i % group == 0) place = i;
                  if (!passes(x[i])) all[place++] = x[i];
              }
              return at_places(all);
          }},
         {"the right elements are kept, but not in their order", [&] {
              Floats some = got, all = want;
              std::sort(some.begin(), some.end());
              std::sort(all.begin(), all.end());
              return some == all ? got : Floats();
          }}});
    size_t beyond = 0;
    const Ints bits = bits_of(out);
    for (size_t i = 0, next = 0; i < out.size(); ++i) {
        const bool belongs = next < places.size() && places[next] == i;
        next += belongs;
        beyond += !belongs && bits[i] != -1;
    }
    INFO(beyond << " elements are stored past the last kept element, where nothing may be written");
    CHECK(beyond == 0);
}

// Groups of `threads` elements, by a warp or a block each.
void check_groups(const Floats& x, int threads, bool warps) {
    const int n = int(x.size()), groups = (n + threads - 1) / threads;
    CAPTURE(n, threads);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard)), d_out(n, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_counts(groups, wb::guard(kGuard));
    if (warps)
        select_in_warps(d_x.get(), n, kLimit, d_out.get(), d_counts.get());
    else
        select_in_blocks(d_x.get(), n, kLimit, d_out.get(), d_counts.get(), threads);
    CUDA_CHECK(cudaGetLastError());
    compare(d_out.download(), x, threads);
    Ints want(groups, 0);
    for (int i = 0; i < n; ++i) want[i / threads] += passes(x[i]);
    CHECK_ARRAYS(
        d_counts.download(), want, [](size_t) { return 0.0; }, "count");
    wb::check_unchanged(bits_of(d_x.download()), bits_of(x));
    CHECK(d_out.intact());
    CHECK(d_counts.intact());
}

void check_warps(const Floats& x) {
    check_groups(x, 32, true);
}
void check_blocks(const Floats& x, int threads) {
    check_groups(x, threads, false);
}

void check_above(const Floats& x) {
    const int n = int(x.size());
    CAPTURE(n);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard)), d_out(n, wb::guard(kGuard));
    Scratch scratch(n);
    const int got = select_above(d_x.get(), n, kLimit, d_out.get(), scratch.memory.get());
    CUDA_CHECK(cudaGetLastError());
    const int want = number_of(x);
    check_number(
        got,
        want,
        n - 1 < 0 ? 0 : int(std::count_if(x.begin(), x.begin() + (n - 1) / kTile * kTile, passes)));
    compare(d_out.download(), x, std::max(n, 1));
    wb::check_unchanged(bits_of(d_x.download()), bits_of(x));
    CHECK(d_out.intact());
}

// x with NaNs, infinities, the limit and the next larger float among its elements.
Floats with_special_values(Floats x) {
    const float special[] = {kNan, kInfinity, -kInfinity, kLimit, -kNan, std::nextafter(kLimit, 1)};
    for (size_t i = 0; i < std::size(special); ++i) x[i * 7 + 3] = special[i];
    return x;
}

}  // namespace

TEST_CASE("task 1: keeps the elements that pass, of each 32", "[task1]") {
    for (const int n : {32, 64, 256, 1024, 8192}) check_warps(random_elements(n, 100 + n));
}

TEST_CASE("task 1: keeps none, all, every second, and the last of a warp", "[task1]") {
    check_patterns(64, check_warps);
    check_patterns(1000, check_warps);
}

TEST_CASE("task 1: selects in warps that are not full", "[task1]") {
    for (const int n : {0, 1, 2, 15, 31, 33, 255, 257, 1000})
        check_warps(random_elements(n, 200 + n, 60));
    check_warps(with_special_values(random_elements(100, 17)));
}

TEST_CASE("task 2: keeps the elements that pass in blocks of one warp to 32 warps", "[task2]") {
    for (const int threads : {32, 64, 96, 256, 480, 992, 1024})
        check_blocks(random_elements(3 * threads, 300 + threads), threads);
}

TEST_CASE("task 2: selects in blocks that are not full", "[task2]") {
    for (const int n : {0, 1, 31, 32, 33, 255, 257, 1000, 5001}) {
        check_blocks(random_elements(n, 400 + n), 256);
        check_blocks(random_elements(n, 401 + n), 1024);
    }
    check_patterns(1000, [](const Floats& x) { check_blocks(x, 256); });
}

TEST_CASE("task 3: keeps the elements that pass, of any number", "[task3]") {
    for (const int n : kSizes) check_above(random_elements(n, 500 + n));
    check_above(random_elements(kLarge, 501));
}

TEST_CASE("task 3: keeps none, all, every second, and the last", "[task3]") {
    for (const int n : {1, 300, 4096, 12345}) check_patterns(n, check_above);
}

TEST_CASE("task 3: an element equal to the limit does not pass, nor does a NaN", "[task3]") {
    check_above(with_special_values(random_elements(5000, 18)));
    check_above(Floats(1000, kNan));
    check_above(Floats(1000, kLimit));
}

TEST_CASE("task 3: gives the same in every run", "[task3]") {
    const Floats x = random_elements(20011, 19);
    for (int run = 0; run < 4; ++run) check_above(x);
}

TEST_CASE("task 3: launches nothing for an empty array", "[task3]") {
    Scratch scratch(0);
    int got = -1;
    const auto counters =
        wb::count([&] { got = select_above(nullptr, 0, kLimit, nullptr, scratch.memory.get()); });
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(got == 0);
    if (counters) CHECK(counters->launches == 0);
}
