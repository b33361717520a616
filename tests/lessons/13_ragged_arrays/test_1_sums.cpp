// SPDX-License-Identifier: MIT
// Lesson 13, the sums: each list is summed from its own elements only.
//
// Tolerance, with u = 2^-24: a sum of n floats in any order is off by n u (sum of the magnitudes)
// at most.
#include "lesson_test.h"
#include "reference.h"

#include <algorithm>
#include <numeric>

namespace {

std::vector<float> sums(Sum sum, const Lists& lists, int before = 0) {
    const Ragged ragged(lengths_of(lists), before);
    std::vector<float> content(before, std::nanf(""));
    for (const auto& list : lists) content.insert(content.end(), list.begin(), list.end());
    if (before) content.insert(content.end(), kUnowned, std::nanf(""));
    wb::GuardedBuffer<float> d_content(content, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_offsets(ragged.offsets, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_sums(lists.size(), wb::guard(kGuard));
    sum(d_content.get(), d_offsets.get(), d_sums.get(), int(lists.size()));
    CUDA_CHECK(cudaGetLastError());
    CHECK(d_sums.intact());
    return d_sums.download();
}

// `exact`: with these values no order of additions rounds.
void check_sums(Sum sum, const Lists& lists, int before = 0, bool exact = false) {
    std::vector<float> want;
    std::vector<double> bound;
    for (const auto& list : lists) {
        double total = 0, magnitude = 0;
        for (const float value : list) {
            total += value;
            magnitude += std::fabs(value);
        }
        want.push_back(float(total));
        bound.push_back(exact ? 0 : (double(list.size()) + 1) * 0x1p-24 * magnitude);
    }
    const auto tolerance = [&](size_t k) { return bound[k]; };
    const auto got = sums(sum, lists, before);
    CHECK_ARRAYS(got, want, tolerance, "list");
    if (before) {
        // An output that was never written is NaN everywhere.
        const auto is_nan = [](float value) { return std::isnan(value); };
        if (!got.empty() && is_nan(got[0]) && !std::all_of(got.begin(), got.end(), is_nan))
            wb::details::note_mistakes(
                {"elements before the first offset are read, which belong to no list"}, 4);
        return;
    }
    wb::recognize<float>(
        got,
        want,
        {{"the last element of each list is left out",
          [&] { return sums_of_ranges(lists, 0, -1); }},
         {"the first element of each list is left out",
          [&] { return sums_of_ranges(lists, 1, 0); }},
         {"each list takes the first element of the next one as well",
          [&] { return sums_of_ranges(lists, 0, 1); }},
         {"only the elements 0, 32, 64, ... of each list are in the sum: those of one lane",
          [&] { return sums_of_ranges(lists, 0, 0, 32); }},
         {"only the first 32 elements of each list are in the sum",
          [&] { return sums_of_some(lists, 32); }},
         {"only the first element of each list is in the sum",
          [&] { return sums_of_some(lists, 1); }},
         {"computed in whole numbers: fractions are lost",
          [&] {
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  int total = 0;
                  for (const float value : list) total = int(float(total) + value);
                  return total;
              });
          }},
         {"divided by the number of elements: the mean, and not the sum",
          [&] {
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  return std::accumulate(list.begin(), list.end(), 0.0) / double(list.size());
              });
          }},
         {"each list is taken to begin at the first element of all",
          [&] {
              return by_list(lists, [&](const std::vector<float>& list, size_t) {
                  double total = 0;
                  size_t left = list.size();
                  for (const auto& from : lists)
                      for (const float value : from)
                          if (left > 0) total += value, --left;
                  return total;
              });
          }},
         {"the same element is added each time: the loop's index is not used",
          [&] {
              std::vector<float> all, out;
              for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
              for (size_t k = 0; k < lists.size(); ++k)
                  out.push_back(k < all.size() ? float(lists[k].size()) * all[k] : 0);
              return out;
          }},
         {"every lane begins at the first element of its list",
          [&] {
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  double total = 0;
                  for (size_t i = 0; i < list.size(); i += 32) total += list[i];
                  return 32 * total;
              });
          }},
         {"a lane moves on by 1 element, not by the size of the warp",
          [&] {
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  return of_lanes(list, 0, 1);
              });
          }},
         {"the last lane stores, but only lane 0 has the whole sum",
          [&] {
              size_t longest = 0;
              for (const auto& list : lists) longest = std::max(longest, list.size());
              if (longest < 32) return std::vector<float>();
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  return 32 * of_lanes(list, 31, 32);
              });
          }},
         {"a lane moves on by the size of the block, not of the warp",
          [&] {
              std::vector<float> out;
              for (const auto& list : lists) {
                  double total = 0;
                  for (size_t i = 0; i < list.size(); ++i)
                      if (i % 128 < 32) total += list[i];
                  out.push_back(float(total));
              }
              return out;
          }}},
        tolerance);
}

void check_shapes(Sum sum) {
    check_sums(sum, lists_of({5}, 1));
    check_sums(sum, lists_of({0}, 1));
    check_sums(sum, lists_of(std::vector<int>(300, 0), 2));  // all empty
    check_sums(sum, lists_of({0, 3, 0, 0, 40, 1, 0}, 3));    // first and last empty
    check_sums(sum, lists_of({31, 32, 33, 63, 64, 65, 1}, 4));
}

}  // namespace

TEST_CASE("task 1: sums three lists", "[task1]") {
    check_sums(list_sums, kThreeLists);
}

TEST_CASE("task 1: sums lists of any number and length", "[task1]") {
    check_shapes(list_sums);
    const int n = GENERATE(1, 31, 32, 33, 127, 128, 129, 1000, 20011);
    CAPTURE(n);
    check_sums(list_sums, lists_of(wb::random_ints(n, 10 + n, 0, 9), 20 + n));
}

TEST_CASE("task 1: sums a slice, with elements before and after it", "[task1]") {
    const int before = GENERATE(1, 3, 100);
    CAPTURE(before);
    check_sums(list_sums, kThreeLists, before);
    check_sums(list_sums, lists_of(wb::random_ints(500, 31, 0, 9), 32), before);
}

TEST_CASE("task 1: one very long list among short ones", "[task1]") {
    auto lengths = wb::random_ints(100, 33, 0, 5);
    lengths[50] = 100000;
    check_sums(list_sums, lists_of(lengths, 34));
    check_sums(list_sums, eighths_of(lengths, 37), 0, true);
}

TEST_CASE("task 1: the same sums with the lists in reverse order", "[task1]") {
    const auto lists = lists_of(wb::random_ints(700, 35, 0, 20), 36);
    Lists turned(lists.rbegin(), lists.rend());
    auto got = sums(list_sums, turned);
    std::reverse(got.begin(), got.end());
    check_sums(list_sums, turned);
    const auto want = sums(list_sums, lists);
    if (!want.empty() && !std::isnan(want[0])) CHECK_ARRAYS(got, want);
}

TEST_CASE("task 2: a warp sums three lists", "[task2]") {
    check_sums(long_list_sums, kThreeLists);
}

TEST_CASE("task 2: a warp sums lists of any number and length", "[task2]") {
    check_shapes(long_list_sums);
    const int n = GENERATE(1, 2, 3, 4, 5, 33, 1000);
    CAPTURE(n);
    check_sums(long_list_sums, lists_of(wb::random_ints(n, 40 + n, 0, 150), 50 + n));
}

TEST_CASE("task 2: a warp sums a slice, with elements before and after it", "[task2]") {
    const int before = GENERATE(1, 3, 100);
    CAPTURE(before);
    check_sums(long_list_sums, lists_of(wb::random_ints(200, 61, 0, 90), 62), before);
}

TEST_CASE("task 2: very long lists", "[task2]") {
    check_sums(long_list_sums, lists_of({100000, 0, 99999, 7, 65536}, 63));
    check_sums(long_list_sums, eighths_of({100000, 0, 99999, 7, 65536}, 64), 0, true);
}
