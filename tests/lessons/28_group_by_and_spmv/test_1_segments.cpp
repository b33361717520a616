// SPDX-License-Identifier: MIT
// Lesson 28, segments: their sums in a warp, and how many groups begin in a table.
#include "checks.h"

namespace {

void check_segments(const Floats& x, const std::vector<unsigned char>& head, bool whole) {
    const int n = int(x.size());
    CAPTURE(n);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard)), d_sums(n, wb::guard(kGuard));
    wb::GuardedBuffer<unsigned char> d_head(head, wb::guard(kGuard));
    sums_in_warps(d_x.get(), d_head.get(), n, d_sums.get());
    CUDA_CHECK(cudaGetLastError());
    // begin(i): where the sum of element i begins.
    const auto sums = [&](auto&& begin, int last = 1) {
        return sums_over(x, n, begin, [=](int i) { return i + last; });
    };
    const auto begin = [&](int i) {
        while (i % 32 != 0 && !head[i]) --i;
        return i;
    };
    // The result of the scan's steps if segments begin at other places. A shuffle from below lane 0
    // returns the lane's own value.
    const auto scanned = [&](auto&& begins_at) {
        Floats out = x;
        for (int step = 1; step < 32; step *= 2) {
            const Floats last = out;
            for (int i = 0; i < n; ++i)
                if (i - step >= begins_at(i)) out[i] += last[i % 32 >= step ? i - step : i];
        }
        return out;
    };
    // The number of zeros above the nearest head; `without`: the result for a lane that has no
    // head.
    const auto from_the_top = [&](int i, int without) {
        const int at = begin(i);
        return i / 32 * 32 + (head[at] || i % 32 == 0 ? 31 - at % 32 : without);
    };
    const Floats got = d_sums.download(), want = sums(begin);
    std::vector<double> bound(n, 0.0);
    for (int i = 0; !whole && i < n; ++i) {
        double magnitude = 0;
        for (int k = begin(i); k <= i; ++k) magnitude += std::fabs(x[k]);
        bound[i] = bound_of_sum(magnitude, 32);
    }
    const auto near = [&](size_t i) { return bound[i]; };
    CHECK_ARRAYS(got, want, near, "sum up to element");
    wb::recognize<float>(
        got,
        want,
        {{"segments are not told apart: each sum begins at the first lane",
          [&] { return sums([](int i) { return i / 32 * 32; }); }},
         {"each sum lacks its own element", [&] { return sums(begin, 0); }},
         {"each sum lacks the first element of its segment",
          [&] { return sums([&](int i) { return begin(i) + 1; }); }},
         {"right only in the first warp of a block: what is a lane's number in the others?",
          [&] { return sums([&](int i) { return i % kThreads < 32 ? begin(i) : i / 32 * 32; }); }},
         {"a head ends a segment: it should begin one",
          [&] {
              return sums([&](int i) {
                  while (i % 32 != 0 && !head[i - 1]) --i;
                  return i;
              });
          }},
         {"the lowest head of the warp is used instead of the nearest one",
          [&] {
              return scanned([&](int i) {
                  int first = i / 32 * 32;
                  while (first < i && !head[first]) ++first;
                  return head[first] ? first : i / 32 * 32;
              });
          }},
         {"bits are counted from the highest: the highest head has number 31 - __clz(...)",
          [&] { return scanned([&](int i) { return from_the_top(i, 31); }); }},
         {"bits are counted from the highest: the highest head has number 31 - __clz(...)",
          [&] { return scanned([&](int i) { return from_the_top(i, 0); }); }},
         {"the first lanes add their own values once more: if a lane has no head up to it, its "
          "segment begins at lane 0",
          [&] {
              return scanned([&](int i) {
                  const int at = begin(i);
                  return head[at] ? at : i / 32 * 32 - 1;
              });
          }},
         {"a lane overlooks its own head and adds the segment before it",
          [&] { return scanned([&](int i) { return i % 32 ? begin(i - 1) : i; }); }},
         {"the elements themselves: nothing was added", [&] { return x; }}},
        near);
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_sums.intact());
}

// An infinity changes only the sums of its own segment, from its element on.
void check_infinity() {
    const int n = 64;
    std::vector<unsigned char> head(n, 0);
    for (const int at : {5, 9, 20, 40}) head[at] = 1;
    Floats x = eighths(n, 150, 32);
    x[7] = x[45] = std::numeric_limits<float>::infinity();
    Floats want = x;
    for (int i = 0; i < n; ++i)
        if (i % 32 != 0 && !head[i]) want[i] = want[i - 1] + x[i];
    wb::DeviceBuffer<float> d_x(x), d_sums(n);
    wb::DeviceBuffer<unsigned char> d_head(head);
    sums_in_warps(d_x.get(), d_head.get(), n, d_sums.get());
    CUDA_CHECK(cudaGetLastError());
    const Floats got = d_sums.download();
    CHECK_ARRAYS(got, want, exact, "where one segment has an infinity, sum up to element");
    wb::recognize<float>(
        got,
        want,
        {{"0 times infinity is NaN: choose by a condition whether a value is added", [&] {
              Floats out = x;
              for (int step = 1; step < 32; step *= 2) {
                  const Floats last = out;
                  for (int i = 0; i < n; ++i) {
                      int begin = i;
                      while (begin % 32 && !head[begin]) --begin;
                      const int from = i % 32 >= step ? i - step : i;
                      const bool adds = i - step >= begin;
                      out[i] += last[from] * (adds ? 1.0f : 0.0f);
                  }
              }
              return out;
          }}});
}

void check_count(const Ints& keys) {
    const int n = int(keys.size());
    CAPTURE(n);
    wb::GuardedBuffer<int> d_key(keys, wb::guard(kGuard));
    Scratch scratch(n);
    const int got = count_groups(d_key.get(), n, scratch.get());
    CUDA_CHECK(cudaGetLastError());
    const bool sorted = std::is_sorted(keys.begin(), keys.end());
    const int groups = int(begins_of(keys).size()) - 1;
    const Ints want{sorted ? groups : kNotSorted};
    CHECK_ARRAYS(Ints{got}, want, exact, "the returned number");
    // Whether all keys that are too small are in the first row of a tile.
    bool at_borders = true;
    for (int i = 1; i < n; ++i)
        if (keys[i] < keys[i - 1] && i % kTile) at_borders = false;
    std::vector<wb::Mistake<int>> mistakes{
        {at_borders ? "the first row of a tile is not compared with the last one of the tile before"
                    : "the keys are not sorted, but a number was returned",
         [&] { return Ints{groups}; }}};
    if (sorted)
        mistakes = {{"only the heads of lane 0 are counted: one row of each round",
                     [&] {
                         int heads = 0;
                         for (int i = 0; i < n; i += 32) heads += i == 0 || keys[i] != keys[i - 1];
                         return Ints{heads};
                     }},
                    {"sorted keys are reported as not sorted: neighbouring keys may be equal",
                     [] { return Ints{kNotSorted}; }},
                    {"the last group is missing", [&] { return Ints{groups - 1}; }},
                    {"the rows are counted, not the groups", [&] { return Ints{n}; }},
                    {"the votes are added up as numbers: how many of their bits are set?",
                     [&] {
                         unsigned sum = 0;
                         for (int i = 0; i < n; ++i)
                             if (i == 0 || keys[i] != keys[i - 1]) sum += 1u << i % 32;
                         return Ints{int(sum)};
                     }},
                    {"the difference of the last and the first key: keys have gaps",
                     [&] { return Ints{int(int64_t(keys.back()) - keys[0] + 1)}; }}};
    int at_tiles = 0;  // tiles that begin with a head; the first one always does
    for (int i = kTile; i < n; i += kTile) at_tiles += keys[i] != keys[i - 1];
    const int tiles = (n + kTile - 1) / kTile;
    if (sorted && at_tiles > 0)
        mistakes.push_back({"groups that begin at the first row of a tile are not counted",
                            [&] { return Ints{groups - at_tiles}; }});
    if (sorted && at_tiles < tiles - 1)
        mistakes.push_back({"the first row of each tile is counted as the beginning of a group",
                            [&] { return Ints{groups + tiles - 1 - at_tiles}; }});
    wb::recognize<int>(Ints{got}, want, mistakes);
    wb::check_unchanged(d_key.download(), keys);
}

}  // namespace

TEST_CASE("task 1: sums the segments of full warps", "[task1]") {
    for (const int n : {32, 64, 256, 1024, 8192})
        for (const int percent : {5, 30, 80}) {
            check_segments(eighths(n, 100 + n, 32), random_heads(n, 110 + percent, percent), true);
            check_segments(wb::random_floats(n, 120), random_heads(n, 121, percent), false);
        }
}

TEST_CASE("task 1: one segment, one for each lane, or heads at the ends of a warp", "[task1]") {
    const int n = 512;
    std::vector<unsigned char> none(n, 0), all(n, 1), first(n, 0), last(n, 0), both(n, 0);
    for (int i = 0; i < n; ++i) {
        first[i] = i % 32 == 0;
        last[i] = i % 32 == 31;
        both[i] = i % 32 == 1 || i % 32 == 30;
    }
    for (const auto& heads : {none, all, first, last, both})
        check_segments(eighths(n, 130, 32), heads, true);
    check_infinity();
}

TEST_CASE("task 1: sums the segments of warps that are not full", "[task1]") {
    for (const int n : {0, 1, 2, 15, 31, 33, 255, 257, 1000})
        check_segments(eighths(n, 140 + n, 32), random_heads(n, 141, 20), true);
}

TEST_CASE("task 2: counts the groups of any number of rows", "[task2]") {
    for (const int n : kSizes) check_count(sorted_keys(n, 200 + n, 20));
    for (const int n : kLargeSizes) check_count(sorted_keys(n, 210 + n, 20));
}

TEST_CASE("task 2: keys that are all equal, all different, far apart or negative", "[task2]") {
    for (const int n : {1, 33, 1024, 1025, 5000}) {
        check_count(Ints(n, 7));
        check_count(sorted_keys(n, 221, 100, 1));
        check_count(sorted_keys(n, 222, 10, 100000, -300000000));
    }
    check_count({INT_MIN, INT_MIN, -1, 0, INT_MAX, INT_MAX});
    check_count({INT_MIN, INT_MAX});
}

TEST_CASE("task 2: notices keys that are not sorted, wherever that is", "[task2]") {
    for (const int n : {2, 33, 1024, 4100})
        for (const int at : {1, 2, 31, 32, 33, 1000, 1023, 1024, 1025, 3072, 4095, 4099}) {
            if (at >= n) continue;
            CAPTURE(at);
            Ints keys = sorted_keys(n, 230, 30);
            for (int i = at; i < n; ++i) keys[i] -= keys[at] - keys[at - 1] + 1;
            check_count(keys);
        }
    check_count({INT_MAX, INT_MIN});
    Ints turned = sorted_keys(3000, 231, 50);
    std::reverse(turned.begin(), turned.end());
    check_count(turned);
}

TEST_CASE("task 2: launches nothing for an empty table", "[task2]") {
    check_count({1, 1, 2});
    Scratch scratch(0);
    int got = -2;
    const auto counters = wb::count([&] {
        got = count_groups(nullptr, 0, scratch.get()) +
              sum_by_key(nullptr, {}, 0, nullptr, {}, scratch.get());
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(got == 0);
    if (counters) CHECK(counters->launches == 0);
}
