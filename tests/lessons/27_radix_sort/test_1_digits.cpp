// SPDX-License-Identifier: MIT
// Lesson 27, one digit: extracting, ranking, placing and counting it.
//
// Tolerance: none, these are whole numbers.
#include "lesson_test.h"
#include "reference.h"

#include <algorithm>
#include <climits>
#include <numeric>

namespace {

// All digits of the keys, and some of fewer bits.
template <class Key>
void check_digits(const Keys<Key>& keys) {
    const int n = int(keys.size());
    constexpr auto sign = BitsOf<Key>(1) << (8 * sizeof(Key) - 1);
    using Wrong = std::function<unsigned(Key, int shift, int width)>;
    const std::vector<std::pair<const char*, Wrong>> usual{
        {"the bits of the key were not changed: which come first, negative keys or others?",
         [](Key k, int shift, int width) { return digit(bits_of(k), shift, width); }},
        {"only the sign is inverted: of two negative floats, which has more bits set?",
         [](Key k, int shift, int width) {
             return digit(BitsOf<Key>(bits_of(k) ^ sign), shift, width);
         }},
        {"all bits from `shift` on, instead of `width` bits",
         [](Key k, int shift, int) { return unsigned(sortable(k) >> shift); }},
        {"always 8 bits, instead of `width` bits",
         [](Key k, int shift, int) { return digit(sortable(k), shift, 8); }},
        {"cut to 32 bits before the shift: the upper half of the key is lost",
         [](Key k, int shift, int width) {
             return shift < 32 ? digit(uint32_t(sortable(k)), shift, width) : 0u;
         }}};
    // All shifts and widths are compared together: a mistake is named only if it explains the
    // results of all of them and more than zeros.
    Words all_got, all_want;
    std::vector<Words> all_wrong(usual.size());
    for (int shift = 0; shift < int(8 * sizeof(Key)); shift += kDigitBits)
        for (const int width : {8, 5, 1}) {
            CAPTURE(n, shift, width);
            wb::GuardedBuffer<Key> d_keys(keys, wb::guard(kGuard));
            wb::GuardedBuffer<unsigned> d_digits(n, wb::guard(kGuard));
            digits_of(d_keys.get(), n, shift, width, d_digits.get());
            const Words got = d_digits.download();
            Words want;
            for (const Key k : keys) want.push_back(digit(sortable(k), shift, width));
            CHECK_ARRAYS(got, want, exact, "digit of key");
            all_got.insert(all_got.end(), got.begin(), got.end());
            all_want.insert(all_want.end(), want.begin(), want.end());
            for (size_t m = 0; m < usual.size(); ++m)
                for (const Key k : keys) all_wrong[m].push_back(usual[m].second(k, shift, width));
        }
    std::vector<wb::Mistake<unsigned>> mistakes;
    for (size_t m = 0; m < usual.size(); ++m)
        mistakes.push_back({usual[m].first, [&, m] { return all_wrong[m]; }});
    wb::recognize<unsigned>(all_got, all_want, mistakes);
}

void check_ranks(const Words& digits) {
    const int n = int(digits.size());
    CAPTURE(n);
    wb::GuardedBuffer<unsigned> d_digits(digits, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_ranks(n, wb::guard(kGuard)), d_counts(n, wb::guard(kGuard));
    rank_in_warps(d_digits.get(), n, d_ranks.get(), d_counts.get());
    CUDA_CHECK(cudaGetLastError());
    // Of the lanes [first, last) of the warp of i that have its digit.
    const auto number = [&](int i, int first, int last) {
        const int begin = i / 32 * 32;
        int found = 0;
        for (int k = begin + first; k < std::min(begin + last, n); ++k)
            found += digits[k] == digits[i];
        return found;
    };
    const auto each = [n](auto&& f) {
        Ints out(n);
        for (int i = 0; i < n; ++i) out[i] = f(i);
        return out;
    };
    const Ints ranks = d_ranks.download(), counts = d_counts.download();
    const Ints want_ranks = each([&](int i) { return number(i, 0, i % 32); });
    CHECK_ARRAYS(ranks, want_ranks, exact, "rank of element");
    wb::recognize<int>(
        ranks,
        want_ranks,
        {{"each lane counts itself: ranks begin at 0",
          [&] { return each([&](int i) { return number(i, 0, i % 32 + 1); }); }},
         {"the lanes after this one are counted, not those before",
          [&] { return each([&](int i) { return number(i, i % 32 + 1, 32); }); }},
         {"right only in the first warp of a block: what is a lane's number in the others?",
          [&] {
              return each([&](int i) { return number(i, 0, i % kThreads < 32 ? i % 32 : 32); });
          }},
         {"the number of the lane", [&] { return each([](int i) { return i % 32; }); }}});
    const Ints want_counts = each([&](int i) { return number(i, 0, 32); });
    CHECK_ARRAYS(counts, want_counts, exact, "count of element");
    wb::recognize<int>(
        counts,
        want_counts,
        {{"the lanes after this one are not counted",
          [&] { return each([&](int i) { return number(i, 0, i % 32 + 1); }); }},
         {"this lane is not counted",
          [&] { return each([&](int i) { return number(i, 0, 32) - 1; }); }},
         {"only the lanes before this one are counted", [&] { return want_ranks; }}});
    wb::check_unchanged(d_digits.download(), digits);
    CHECK(d_ranks.intact());
    CHECK(d_counts.intact());
}

// The places of one block, which begins with random `next` values.
void check_places(const Words& digits) {
    const int n = int(digits.size());
    CAPTURE(n);
    const Ints first = wb::random_ints(kDigits, 5 + n, 0, 1 << 20);
    wb::GuardedBuffer<unsigned> d_digits(digits, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_first(first, wb::guard(kGuard)), d_places(n, wb::guard(kGuard));
    places_in_block(d_digits.get(), n, d_first.get(), d_places.get());
    CUDA_CHECK(cudaGetLastError());
    // Where all digits begin anew after `every` elements.
    const auto places = [&](int every) {
        Ints next = first, out(n);
        for (int i = 0; i < n; ++i) {
            if (i % every == 0) next = first;
            out[i] = next[digits[i]]++;
        }
        return out;
    };
    const Ints got = d_places.download(), want = places(INT_MAX);
    CHECK_ARRAYS(got, want, exact, "place of element");
    wb::recognize<int>(
        got,
        want,
        {{"each round begins anew: `next` is not changed", [&] { return places(kThreads); }},
         {"each warp begins anew: the counts of the warps before it are missing",
          [&] { return places(32); }},
         {"places are one too high: the first element belongs at `next`",
          [&] {
              Ints out = want;
              for (int& place : out) ++place;
              return out;
          }},
         {"elements with the same digit are not in their order", [&] {
              Ints some = got, all = want;
              std::sort(some.begin(), some.end());
              std::sort(all.begin(), all.end());
              return some == all ? got : Ints();
          }}});
    wb::check_unchanged(d_digits.download(), digits);
    CHECK(d_places.intact());
}

void check_counts(const Words& keys, int shift, int width) {
    const int n = int(keys.size()), tiles = tiles_of(n);
    CAPTURE(n, shift, width);
    wb::GuardedBuffer<unsigned> d_keys(keys, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_counts(size_t(tiles) * kDigits, wb::guard(kGuard));
    count_digits(d_keys.get(), n, shift, width, d_counts.get());
    CUDA_CHECK(cudaGetLastError());
    const auto counted = [&](auto&& place) {
        Ints counts(size_t(tiles) * kDigits, 0);
        for (int i = 0; i < n; ++i) ++counts[place(digit(keys[i], shift, width), i / kTile)];
        return counts;
    };
    const Ints got = d_counts.download();
    const Ints want = counted([&](unsigned d, int tile) { return size_t(d) * tiles + tile; });
    CHECK_ARRAYS(got, want, exact, "count");
    wb::recognize<int>(
        got,
        want,
        {{"the counts of a tile are side by side: those of a digit should be",
          [&] { return counted([](unsigned d, int tile) { return size_t(tile) * kDigits + d; }); }},
         {"only the first round of each tile is counted", [&] {
              Ints counts(size_t(tiles) * kDigits, 0);
              for (int i = 0; i < n; ++i)
                  if (i % kTile < kThreads)
                      ++counts[size_t(digit(keys[i], shift, width)) * tiles + i / kTile];
              return counts;
          }}});
    wb::check_unchanged(d_keys.download(), keys);
    CHECK(d_counts.intact());
}

}  // namespace

TEST_CASE("task 1: the digits of unsigned keys", "[task1]") {
    for (const int n : {1, 33, 1000}) check_digits(random_words(n, 100 + n));
    check_digits(Words{0, 1, 0x80000000u, 0xFFFFFFFFu, 0x12345678u, 0xFEDCBA98u});
}

TEST_CASE("task 1: the digits of ints, negative ones first", "[task1]") {
    check_digits(random_keys<int>(1000, 101));
    check_digits(Ints{0, 1, -1, INT_MAX, INT_MIN, INT_MIN + 1, -256, 255, 256});
}

TEST_CASE("task 1: the digits of floats, in the order of the floats", "[task1]") {
    check_digits(random_keys<float>(1000, 102));
    check_digits(special_floats<float>());
}

TEST_CASE("task 1: the digits of doubles, all 64 bits", "[task1]") {
    check_digits(random_keys<double>(1000, 103));
    check_digits(special_floats<double>());
}

TEST_CASE("task 2: ranks lanes among those with the same digit", "[task2]") {
    for (const int different : {2, 4, 16, 256})
        check_ranks(random_digits(2048, 200 + different, different));
}

TEST_CASE("task 2: ranks lanes whose digits are all the same, or all different", "[task2]") {
    check_ranks(Words(512, 0));
    check_ranks(Words(512, kDigits - 1));
    Words digits(512);
    std::iota(digits.begin(), digits.end(), 0);
    for (unsigned& d : digits) d %= kDigits;
    check_ranks(digits);
    std::reverse(digits.begin(), digits.end());
    check_ranks(digits);
}

TEST_CASE("task 2: ranks lanes of warps that are not full", "[task2]") {
    for (const int n : {1, 2, 15, 31, 33, 255, 257, 1000})
        check_ranks(random_digits(n, 210 + n, 4));
    check_ranks({});
}

TEST_CASE("task 3: finds the places of one round", "[task3]") {
    for (const int different : {1, 2, 16, 256})
        check_places(random_digits(kThreads, 300 + different, different));
}

TEST_CASE("task 3: finds the places of many rounds", "[task3]") {
    for (const int different : {1, 2, 16, 256})
        check_places(random_digits(20 * kThreads, 310 + different, different));
}

TEST_CASE("task 3: finds the places of rounds that are not full", "[task3]") {
    for (const int n : {1, 31, 32, 33, 255, 257, 1000, 4097}) {
        check_places(random_digits(n, 320 + n, 4));
        check_places(random_digits(n, 330 + n, 256));
    }
    check_places({});
}

TEST_CASE("task 4: counts the digits of any number of keys", "[task4]") {
    for (const int n : kSizes) check_counts(random_words(n, 400 + n), 8, 8);
    check_counts({}, 0, 8);
}

TEST_CASE("task 4: counts digits of fewer bits, and one that takes all", "[task4]") {
    for (const int n : {257, 10000}) {
        check_counts(random_words(n, 410), 0, 8);
        check_counts(random_words(n, 411), 24, 8);
        check_counts(random_words(n, 412), 28, 4);
        check_counts(random_words(n, 413), 16, 1);
        check_counts(Words(n, 0x01020304u), 8, 8);
        check_counts(Words(n, 0xFFFFFFFFu), 0, 8);
    }
}
