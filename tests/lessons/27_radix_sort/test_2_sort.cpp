// SPDX-License-Identifier: MIT
// Lesson 27, sorting: keys are in order, equal keys keep their order, values move with their keys,
// and each pass moves each pair once.
//
// Tolerance: none, keys and values are moved. Values are random, so that they show a lost order.
// Outputs, spare arrays and scratch memory start as bytes of 0xFF.
#include "cases/shared_work.h"
#include "lesson_test.h"
#include "reference.h"

#include <algorithm>
#include <climits>
#include <numeric>

namespace {

// Scratch memory of exactly the promised size.
struct Scratch {
    explicit Scratch(int n) : memory(scratch_bytes(n) / sizeof(uint64_t), wb::guard(kGuard)) {}
    ~Scratch() { CHECK(memory.intact()); }
    void* get() { return memory.get(); }
    wb::GuardedBuffer<uint64_t> memory;
};

enum class With { kValues, kNothing };

// Runs sort(in, out, spare, n, scratch) and compares with a stable sort by `by`.
template <class Key, class Sort, class By>
void check_sort(const Keys<Key>& keys, With with, int bits, const Sort& sort, const By& by) {
    const int n = int(keys.size());
    CAPTURE(n, bits);
    const bool has_values = with == With::kValues;
    const Words values = has_values ? random_words(n, 4321 + n) : Words();
    wb::GuardedBuffer<Key> in(keys, wb::guard(kGuard)), spare(n, wb::guard(kGuard));
    wb::GuardedBuffer<Key> out(n, wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> in_values(values, wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> out_values(values.size(), wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> spare_values(values.size(), wb::guard(kGuard));
    Scratch scratch(n);
    const auto or_none = [&](auto* p) { return has_values ? p : nullptr; };
    sort(ConstPairs<Key>{in.get(), or_none(in_values.get())},
         Pairs<Key>{out.get(), or_none(out_values.get())},
         Pairs<Key>{spare.get(), or_none(spare_values.get())},
         n,
         scratch.get());
    CUDA_CHECK(cudaGetLastError());
    const Sorted<Key> want = sorted_by(keys, values, by);
    const Keys<Key> got = out.download();
    compare_keys(got, want.keys, mistakes(keys, bits));
    if (has_values)
        compare_values(
            out_values.download(), want.values, values, bits_of(got) == bits_of(want.keys));
    wb::check_unchanged(bits_of(in.download()), bits_of(keys));
    if (has_values) wb::check_unchanged(in_values.download(), values);
    CHECK(out.intact());
    CHECK(spare.intact());
    CHECK(out_values.intact());
    CHECK(spare_values.intact());
}

template <class Key>
void check(const Keys<Key>& keys, With with = With::kValues) {
    check_sort(
        keys,
        with,
        8 * sizeof(Key),
        [](auto in, auto out, auto spare, int n, void* d_scratch) {
            radix_sort(in, out, spare, n, d_scratch);
        },
        [](Key key) { return sortable(key); });
}

void check_low_bits(const Words& keys, int bits, With with = With::kValues) {
    check_sort(
        keys,
        with,
        bits,
        [=](auto in, auto out, auto spare, int n, void* d_scratch) {
            sort_by_low_bits(in, out, spare, n, bits, d_scratch);
        },
        [=](unsigned key) { return uint64_t(key) & ((uint64_t(1) << bits) - 1); });
}

void check_pass(const Words& keys, int shift, int width, With with = With::kValues) {
    CAPTURE(shift, width);
    check_sort(
        keys,
        with,
        shift + width,
        [=](auto in, auto out, auto, int n, void* d_scratch) {
            sort_by_digit(in, out, n, shift, width, d_scratch);
        },
        [=](unsigned key) { return digit(key, shift, width); });
}

// Keys for which mistakes are likely.
template <class Key>
void check_patterns(int n) {
    Keys<Key> keys = random_keys<Key>(n, 77);
    check(Keys<Key>(n, n ? keys[0] : Key()));
    check(few_keys<Key>(n, 78, 3));
    keys = sorted_by(keys, {}, [](Key key) { return sortable(key); }).keys;
    check(keys);
    std::reverse(keys.begin(), keys.end());
    check(keys);
}

// The input of the efficiency tests.
constexpr int kCount = 50003;
constexpr int kTiles = (kCount + kTile - 1) / kTile;
constexpr uint64_t kTable = uint64_t(kTiles) * kDigits;  // counts of a pass

template <class Key>
struct OnDevice {
    explicit OnDevice(bool values)
        : in(random_keys<Key>(kCount, 31)), out(kCount), spare(kCount),
          in_values(random_words(kCount, 32)), out_values(kCount), spare_values(kCount),
          scratch(scratch_bytes(kCount) / sizeof(uint64_t)), has_values(values) {}
    template <class Sort>
    std::optional<wb::Counters> count(const Sort& sort) {
        const auto or_none = [&](auto* p) { return has_values ? p : nullptr; };
        return wb::count([&] {
            sort(ConstPairs<Key>{in.get(), or_none(in_values.get())},
                 Pairs<Key>{out.get(), or_none(out_values.get())},
                 Pairs<Key>{spare.get(), or_none(spare_values.get())},
                 scratch.get());
        });
    }
    wb::DeviceBuffer<Key> in, out, spare;
    wb::DeviceBuffer<unsigned> in_values, out_values, spare_values;
    wb::DeviceBuffer<uint64_t> scratch;
    bool has_values;
};

// A pass stores each pair once, and loads its key twice and its value once. In addition the table
// of counts is stored and loaded about twice.
void check_passes(const std::optional<wb::Counters>& counters, uint64_t passes, size_t key,
                  size_t value) {
    const auto loaded = 1.0 * counters->global_load_bytes / kCount;
    const auto stored = 1.0 * counters->global_store_bytes / kCount;
    const auto sectors = 1.0 * counters->global_store_sectors / kCount;
    const double tables = 4.0 * kTable / kCount;
    INFO(passes << " passes over keys of " << key << " bytes and values of " << value
                << ": for each pair " << loaded << " bytes are loaded and " << stored
                << " stored, in " << sectors << " sectors; the " << kTable
                << " counts of a pass are " << tables << " bytes for each pair");
    CHECK(stored >= double(key + value));
    CHECK(loaded <= double(passes) * (2.5 * key + value + 5 * tables));
    CHECK(stored <= double(passes) * (key + value + 5 * tables));
    INFO(counters->launches << " launches");
    CHECK(counters->launches <= 6 * passes + 2);
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes == 0);
    CHECK(counters->device_allocations == 0);
}

}  // namespace

TEST_CASE("task 5: sorts by one digit, any number of elements", "[task5]") {
    for (const int n : kSizes) check_pass(random_words(n, 500 + n), 8, 8);
    check_pass({}, 8, 8);
}

TEST_CASE("task 5: keeps elements with the same digit in their order", "[task5]") {
    for (const int n : {300, 4096, 9001}) {
        check_pass(random_words(n, 510), 0, 1);
        check_pass(random_words(n, 511), 30, 2);
        check_pass(few_keys<unsigned>(n, 512, 5), 16, 8);
        check_pass(Words(n, 0x12345678u), 8, 8);
        Words ascending(n);
        std::iota(ascending.begin(), ascending.end(), 0u);
        check_pass(ascending, 0, 8);
        check_pass(ascending, 8, 4);
    }
}

TEST_CASE("task 5: sorts keys alone by one digit", "[task5]") {
    for (const int n : {1, 257, 12345}) check_pass(random_words(n, 520), 24, 8, With::kNothing);
}

TEST_CASE("task 6: sorts any number of keys with their values", "[task6]") {
    for (const int n : kSizes) check(random_words(n, 600 + n));
    check_low_bits(random_words(kLarge, 601), kDigitBits, With::kNothing);
}

TEST_CASE("task 6: sorts ints, negative ones first", "[task6]") {
    for (const int n : {1, 33, 1000, 4097}) check(random_keys<int>(n, 610 + n));
    check(wb::random_ints(5000, 611, -20, 20));
    check(Ints{3, -1, INT_MIN, 0, INT_MAX, -1, 2, INT_MIN});
}

TEST_CASE("task 6: sorts floats", "[task6]") {
    for (const int n : {1, 33, 1000, 4097}) check(random_keys<float>(n, 620 + n));
    check(wb::random_floats(10011, 621, 5, 10));
}

TEST_CASE("task 6: sorts doubles from 5 to 10, and of both signs", "[task6]") {
    for (const int n : {1, 33, 1000, 4097}) check(random_keys<double>(n, 630 + n));
    Keys<double> uniform(10011);
    for (size_t i = 0; i < uniform.size(); ++i)
        uniform[i] = 5 + 5 * (double(wb::random_bits(631, i) >> 11) * 0x1p-53);
    check(uniform);
    // These doubles differ only in digits that a float does not have.
    Keys<double> close(3000);
    for (size_t i = 0; i < close.size(); ++i)
        close[i] = 1 + double(wb::random_bits(632, i) % 1000) * 0x1p-50;
    check(close);
}

TEST_CASE("task 6: zeros, infinities and NaNs have their places", "[task6]") {
    check(special_floats<float>());
    check(special_floats<double>());
    check(with_special_values<float>(4501, 640));
    check(with_special_values<double>(4501, 641));
}

TEST_CASE("task 6: sorts keys that are sorted, reversed, or all equal", "[task6]") {
    for (const int n : {33, 300, 4500}) check_patterns<unsigned>(n);
    check_patterns<float>(1000);
    check_patterns<int>(1000);
    check_patterns<double>(1000);
}

TEST_CASE("task 6: sorts keys that differ in one digit only", "[task6]") {
    for (const int shift : {0, 8, 16, 24}) {
        Words keys(5000, 0xA5C3967Eu);
        for (size_t i = 0; i < keys.size(); ++i)
            keys[i] ^= unsigned(wb::random_bits(650 + shift, i) % 256) << shift;
        check(keys);
    }
}

TEST_CASE("task 6: sorts by the lowest bits alone", "[task6]") {
    for (const int bits : {1, 7, 8, 9, 16, 20, 24, 31, 32}) {
        check_low_bits(random_words(4501, 660 + bits), bits);
        check_low_bits(random_words(100, 661 + bits), bits, With::kNothing);
    }
}

TEST_CASE("task 6: sorts keys alone", "[task6]") {
    for (const int n : {1, 256, 4097}) {
        check(random_words(n, 670 + n), With::kNothing);
        check(random_keys<double>(n, 671 + n), With::kNothing);
    }
}

TEST_CASE("task 6: launches nothing for an empty array", "[task6]") {
    check(random_words(5, 680));
    Scratch scratch(0);
    const auto counters = wb::count([&] {
        radix_sort(ConstPairs<unsigned>{}, Pairs<unsigned>{}, Pairs<unsigned>{}, 0, scratch.get());
        radix_sort(ConstPairs<double>{}, Pairs<double>{}, Pairs<double>{}, 0, scratch.get());
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
}

TEST_CASE("efficient: a warp ranks its lanes without memory, in a few steps",
          "[efficient][task2]") {
    wb::DeviceBuffer<unsigned> d_digits(random_digits(kCount, 51, kDigits));
    wb::DeviceBuffer<int> d_ranks(kCount), d_counts(kCount);
    const auto counters =
        wb::count([&] { rank_in_warps(d_digits.get(), kCount, d_ranks.get(), d_counts.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes > 0);
    CHECK(counters->shared_store_requests + counters->shared_atomics == 0);
    CHECK(counters->local_store_requests == 0);
    CHECK(counters->block_barriers == 0);
    // One match, or a vote for each of the nine bits of a digit and kNoDigit.
    CHECK(counters->warp_syncs <= 10 * counters->warps);
    const auto each = counters->warp_instructions / counters->warps;
    INFO("a warp executes " << each << " instructions");
    CHECK(each <= 150);
}

TEST_CASE("efficient: a round of a block shares the work, with few barriers",
          "[efficient][task2][task3]") {
    constexpr uint64_t kRounds = 64, kWarps = kThreads / 32;
    const int n = kRounds * kThreads;
    wb::DeviceBuffer<unsigned> d_digits(random_digits(n, 52, kDigits));
    wb::DeviceBuffer<int> d_first(Ints(kDigits, 0)), d_places(n);
    const auto counters =
        wb::count([&] { places_in_block(d_digits.get(), n, d_first.get(), d_places.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes > 0);
    CHECK(counters->block_barriers <= 4 * kRounds + 4);
    // For each warp and round: a table with a column for each thread and a row for each warp is
    // cleared, filled, scanned and read.
    const auto each = [&](const auto& count) { return count / double(kRounds * kWarps); };
    INFO("a warp makes " << each(counters->shared_load_requests) << " loads and "
                         << each(counters->shared_store_requests)
                         << " stores in shared memory for each round, and "
                         << each(counters->busiest_warp_instructions * kWarps) << " instructions");
    CHECK(each(counters->shared_load_requests) <= 24);
    CHECK(each(counters->shared_store_requests) <= 24);
    CHECK(each(counters->busiest_warp_instructions * kWarps) <= 400);
    CHECK(counters->global_atomics == 0);
}

TEST_CASE("efficient: each key is loaded once to be counted, in shared memory",
          "[efficient][task1][task4]") {
    wb::DeviceBuffer<unsigned> d_keys(random_words(kCount, 53));
    wb::DeviceBuffer<int> d_counts(kTable);
    const auto counters =
        wb::count([&] { count_digits(d_keys.get(), kCount, 8, 8, d_counts.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= sizeof(int) * kTable);
    CHECK(counters->global_store_bytes <= 2 * sizeof(int) * kTable);
    CHECK(counters->global_load_bytes <= sizeof(int) * (kCount + kTable));
    CHECK(counters->global_load_sectors <= kCount / 8 + kTiles * 64);
    CHECK(counters->global_atomics <= kTable);
    // 160 instructions for 16 keys in each thread. A warp that counts for its block needs 1,000.
    wb::check_shared_work(*counters, uint64_t(kTiles) * kThreads, 16, 600);
}

TEST_CASE("efficient: 32 bits are four passes, and 20 bits three", "[efficient]") {
    OnDevice<unsigned> data(true);
    const auto four = data.count([](auto in, auto out, auto spare, void* d_scratch) {
        radix_sort(in, out, spare, kCount, d_scratch);
    });
    NEED_COUNTERS(four);
    check_passes(four, 4, 4, 4);
    const auto three = data.count([](auto in, auto out, auto spare, void* d_scratch) {
        sort_by_low_bits(in, out, spare, kCount, 20, d_scratch);
    });
    check_passes(three, 3, 4, 4);
}

TEST_CASE("efficient: doubles are eight passes, and keys alone move no values", "[efficient]") {
    const auto sort = [](auto in, auto out, auto spare, void* d_scratch) {
        radix_sort(in, out, spare, kCount, d_scratch);
    };
    const auto doubles = OnDevice<double>(true).count(sort);
    NEED_COUNTERS(doubles);
    check_passes(doubles, 8, 8, 4);
    check_passes(OnDevice<float>(false).count(sort), 4, 4, 0);
}

TEST_CASE("efficient: all warps share the work of a sort", "[efficient]") {
    OnDevice<float> data(true);
    const auto counters = data.count([](auto in, auto out, auto spare, void* d_scratch) {
        radix_sort(in, out, spare, kCount, d_scratch);
    });
    NEED_COUNTERS(counters);
    wb::check_shared_work("radix_sort", data.out.get(), kCount);
    wb::check_shared_work(*counters, uint64_t(kTiles) * kThreads, 16);
    // Four passes of three launches or more: in each the busiest warp is one of many.
    const auto share = 1.0 * counters->busiest_warp_instructions / counters->warp_instructions;
    INFO("the busiest warps execute " << 100 * share << " % of all instructions");
    CHECK(share <= 1.0 / 32);
}
