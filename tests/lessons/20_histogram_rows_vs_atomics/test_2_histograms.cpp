// SPDX-License-Identifier: MIT
// Lesson 20, many values: each is counted once, by rows and by atomics, and loaded once.
//
// Tolerance: none, counts are whole numbers.
#include "cases/shared_work.h"
#include "lesson_test.h"
#include "reference.h"

#include <algorithm>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU

// Mistakes that only the lesson knows, in counts that begin with `before`.
void recognize_counts(const Counts& got, const Counts& want, const Counts& before,
                      const std::vector<float>& x, Axis axis, Overflow overflow) {
    const Overflow other = overflow == Overflow::kDrop ? Overflow::kClamp : Overflow::kDrop;
    const Counts once = histogram(x, axis, overflow);
    // -1, the filling, in as many rows for one bin as for another, but for one.
    unsigned fewest = ~0u, most = 0;
    for (size_t k = 0; k < want.size(); ++k) {
        fewest = std::min(fewest, want[k] - got[k]);
        most = std::max(most, want[k] - got[k]);
    }
    const bool rows_held_more = fewest > 0 && most - fewest <= 1 && most <= unsigned(kRows);
    wb::recognize<unsigned>(
        got,
        want,
        {{"the previous counts are lost", [&] { return once; }},
         {"values outside of the axis follow the other rule",
          [&] { return plus(before, histogram(x, axis, other)); }},
         {"the number of the bin is added instead of 1",
          [&] {
              Counts counts = before;
              for (size_t k = 0; k < once.size(); ++k) counts[k] += unsigned(k) * once[k];
              return counts;
          }},
         {"the rows are added before they are filled",
          [&] { return plus(before, Counts(once.size(), 0u - kRows)); }},
         {"the rows are not set to zero, or not all of them, before they are filled",
          [&] { return rows_held_more ? got : want; }}});
}

void check_same(const Counts& got, const Counts& want) {
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "bin");
}

void check_fill_rows(int n, Axis axis, Overflow overflow) {
    CAPTURE(n, axis.bins, overflow);
    const auto x = masses(n, 100 + n, axis);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> d_rows(Counts(size_t(kRows) * axis.bins, 0u), wb::guard(kGuard));
    fill_rows(d_x.get(), n, axis, overflow, d_rows.get());
    CUDA_CHECK(cudaGetLastError());
    const Counts rows = d_rows.download();
    Counts sums(axis.bins, 0u);
    for (size_t i = 0; i < rows.size(); ++i) sums[i % axis.bins] += rows[i];
    const Counts once = histogram(x, axis, overflow);
    check_same(sums, once);
    const auto counted = [&](auto&& times) {  // how often element i is counted
        Counts counts(axis.bins, 0u);
        for (int i = 0; i < n; ++i) {
            const Counts one = histogram({x[i]}, axis, overflow);
            for (int k = 0; k < axis.bins; ++k) counts[k] += times(i) * one[k];
        }
        return counts;
    };
    wb::recognize<unsigned>(
        sums,
        once,
        {{"threads move on by the size of a block: several threads take the same elements",
          [&] { return counted([](int i) { return std::min(i / 256 + 1, kRows / 256); }); }},
         {"each thread takes one element: those after the first kRows are left out",
          [&] { return counted([](int i) { return i < kRows; }); }},
         {"every thread takes all elements", [&] { return counted([](int) { return kRows; }); }}});
    // A second time: the rows grow.
    fill_rows(d_x.get(), n, axis, overflow, d_rows.get());
    CUDA_CHECK(cudaGetLastError());
    const Counts grown = d_rows.download();
    CHECK_ARRAYS(
        grown, plus(rows, rows), [](size_t) { return 0.0; }, "counter of the rows, filled twice,");
    wb::recognize<unsigned>(
        grown,
        plus(rows, rows),
        {{"filled a second time, the rows do not grow: they are overwritten instead of added to",
          [&] { return rows; }}});
    wb::check_unchanged(bits_of(d_x.download()), bits_of(x));
    CHECK(d_rows.intact());
}

void check_add_rows(int rows, int bins, int most = 1000) {
    CAPTURE(rows, bins, most);
    const Counts before = random_counts(bins, 1);
    const Counts in = random_counts(size_t(rows) * bins, 2 + bins, most);
    wb::GuardedBuffer<unsigned> d_rows(in, wb::guard(kGuard)), d_counts(before, wb::guard(kGuard));
    add_rows(d_rows.get(), rows, bins, d_counts.get());
    CUDA_CHECK(cudaGetLastError());
    Counts want = before, turned = before, columns(bins, 0u);
    for (size_t i = 0; i < in.size(); ++i) {
        want[i % bins] += in[i];
        columns[i % bins] += in[i];
        turned[i / rows] += in[i];
    }
    const Counts got = d_counts.download();
    check_same(got, want);
    wb::recognize<unsigned>(
        got,
        want,
        {{"the previous counts are lost: the sum is stored, not added", [&] { return columns; }},
         {"row and bin are swapped in the index", [&] { return turned; }}});
    wb::check_unchanged(d_rows.download(), in);
    CHECK(d_counts.intact());
}

// One histogram function, with the rows that it may need, each buffer exactly as large as promised.
struct Method {
    bool by_rows;
    void run(wb::GuardedBuffer<float>& d_x, Axis axis, Overflow overflow,
             wb::GuardedBuffer<unsigned>& d_counts) {
        const int n = int(d_x.size());
        if (by_rows) {
            wb::GuardedBuffer<unsigned> d_rows(size_t(kRows) * axis.bins, wb::guard(kGuard));
            histogram_rows(d_x.get(), n, axis, overflow, d_rows.get(), d_counts.get());
            CUDA_CHECK(cudaGetLastError());
            CHECK(d_rows.intact());
        } else {
            histogram_atomics(d_x.get(), n, axis, overflow, d_counts.get());
            CUDA_CHECK(cudaGetLastError());
        }
        CHECK(d_counts.intact());
    }
};

void check_histogram(Method method, const std::vector<float>& x, Axis axis, Overflow overflow) {
    CAPTURE(x.size(), axis.bins, overflow);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> d_counts(Counts(axis.bins, 0u), wb::guard(kGuard));
    method.run(d_x, axis, overflow, d_counts);
    const Counts got = d_counts.download(), want = histogram(x, axis, overflow);
    check_same(got, want);
    recognize_counts(got, want, Counts(axis.bins, 0u), x, axis, overflow);
    wb::check_unchanged(bits_of(d_x.download()), bits_of(x));
}

void check_sizes(Method method) {
    for (const int n : {0, 1, 31, 33, 255, 257, 1000, 1023, 1025, 9973})
        check_histogram(
            method, masses(n, 200 + n, masses_axis(120)), masses_axis(120), kRules[n % 2]);
}

void check_axes(Method method) {
    for (const Overflow rule : kRules) {
        for (const int bins : kBins)
            check_histogram(method, masses(5003, bins, masses_axis(bins)), masses_axis(bins), rule);
        const Axis symmetric{64, -4.0f, 4.0f};
        check_histogram(method, masses(5003, 3, symmetric), symmetric, rule);
    }
}

// Adds twice to counts that are not zero, then once more after a reset.
void check_adds(Method method) {
    const Axis axis = masses_axis(120);
    const auto x = masses(3001, 300, axis);
    const Counts before = random_counts(axis.bins, 4);
    const Counts once = histogram(x, axis, Overflow::kDrop);
    wb::GuardedBuffer<float> d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<unsigned> d_counts(before, wb::guard(kGuard));
    method.run(d_x, axis, Overflow::kDrop, d_counts);
    const Counts got = d_counts.download();
    check_same(got, plus(before, once));
    recognize_counts(got, plus(before, once), before, x, axis, Overflow::kDrop);
    method.run(d_x, axis, Overflow::kDrop, d_counts);
    check_same(d_counts.download(), plus(plus(before, once), once));
    CUDA_CHECK(cudaMemset(d_counts.get(), 0, axis.bins * sizeof(unsigned)));
    method.run(d_x, axis, Overflow::kDrop, d_counts);
    check_same(d_counts.download(), once);
}

constexpr Method kByRows{true}, kByAtomics{false};

// Elements in the efficiency tests.
constexpr int kCount = 50000;

}  // namespace

TEST_CASE("task 2: counts each element in one of the rows", "[task2]") {
    for (const int n : {0, 1, 33, 1000, 1023, 1024, 1025, 2048, 9973})
        check_fill_rows(n, masses_axis(120), kRules[n % 2]);
    for (const int bins : kBins) check_fill_rows(3001, masses_axis(bins), Overflow::kDrop);
}

TEST_CASE("task 2: counts nothing when everything is dropped", "[task2]") {
    check_fill_rows(5000, {120, 200.0f, 220.0f}, Overflow::kClamp);
    check_fill_rows(5000, {120, 2e30f, 4e30f}, Overflow::kDrop);
}

TEST_CASE("task 3: adds the rows, column by column", "[task3]") {
    for (const int bins : {1, 31, 32, 33, 120, 255, 256, 257, 1200})
        for (const int rows : {1, 2, 33, 100}) check_add_rows(rows, bins);
    check_add_rows(kRows, 120);
    check_add_rows(33, 120, 1 << 25);  // more than a float or 16 bits can count
}

TEST_CASE("task 4: counts arrays of any length by rows", "[task4]") {
    check_sizes(kByRows);
}

TEST_CASE("task 4: counts with any number of bins by rows", "[task4]") {
    check_axes(kByRows);
}

TEST_CASE("task 4: adds to the previous counts, by rows", "[task4]") {
    check_adds(kByRows);
}

TEST_CASE("task 5: counts arrays of any length with atomics", "[task5]") {
    check_sizes(kByAtomics);
}

TEST_CASE("task 5: counts with any number of bins with atomics", "[task5]") {
    check_axes(kByAtomics);
}

TEST_CASE("task 5: adds to the previous counts, with atomics", "[task5]") {
    check_adds(kByAtomics);
}

TEST_CASE("task 5: counts a hundred thousand equal values", "[task5]") {
    const Axis axis = masses_axis(GENERATE(1, 120));
    const std::vector<float> x(100000, 91.25f);
    check_histogram(kByAtomics, x, axis, Overflow::kDrop);
}

TEST_CASE("efficient: rows need no atomics and no memory of their own",
          "[efficient][task1][task2][task3][task4]") {
    const Axis axis = masses_axis(120);
    const auto x = masses(kCount, 5, axis);
    const uint64_t counted_values = total(histogram(x, axis, Overflow::kDrop));
    const uint64_t cells = uint64_t(kRows) * axis.bins;
    wb::DeviceBuffer<float> d_x(x);
    wb::DeviceBuffer<unsigned> d_rows(cells), d_counts(Counts(axis.bins, 0u));
    const auto counted = wb::count([&] {
        histogram_rows(d_x.get(), kCount, axis, Overflow::kDrop, d_rows.get(), d_counts.get());
    });
    NEED_COUNTERS(counted);
    CHECK(counted->global_atomics + counted->shared_atomics == 0);
    CHECK(counted->device_allocations == 0);
    CHECK(counted->device_to_host_bytes == 0);
    CHECK(counted->global_load_bytes >= 4 * (kCount + cells));
    CHECK(counted->global_load_bytes <= 4 * (kCount + counted_values + cells + axis.bins));
}

TEST_CASE("efficient: neighbouring threads load neighbouring elements into the rows",
          "[efficient][task1][task2]") {
    // Nothing is in range, so that the elements are all that is loaded.
    const Axis far_away{120, 1000.0f, 1120.0f};
    wb::DeviceBuffer<float> d_x(wb::random_floats(kCount, 6));
    wb::DeviceBuffer<unsigned> d_rows(Counts(size_t(kRows) * far_away.bins, 0u));
    const auto counted =
        wb::count([&] { fill_rows(d_x.get(), kCount, far_away, Overflow::kDrop, d_rows.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_bytes == 4 * kCount);
    CHECK(counted->global_load_sectors <= kCount / 8 + 1);
    CHECK(counted->threads == kRows);
    // 49 elements for each thread: 500 to 700 instructions. One warp with all needs 17,000.
    wb::check_shared_work(*counted, kRows, 20, 2500);
}

TEST_CASE("efficient: neighbouring threads add neighbouring columns", "[efficient][task3]") {
    const int rows = 200, bins = 1200;
    const uint64_t cells = uint64_t(rows) * bins;
    wb::DeviceBuffer<unsigned> d_rows(random_counts(cells, 7)), d_counts(Counts(bins, 0u));
    const auto counted = wb::count([&] { add_rows(d_rows.get(), rows, bins, d_counts.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_bytes >= 4 * cells);
    CHECK(counted->global_load_bytes <= 4 * (cells + bins));
    CHECK(counted->global_load_sectors <= (cells + bins) / 8);
    CHECK(counted->global_store_bytes <= 4 * bins);
    CHECK(counted->global_atomics == 0);
    CHECK(counted->warp_instructions <= cells);  // serial code needs 4 or more for each
    // A column of 200 rows: 800 instructions. A block that adds all columns in turn executes 4,000
    // in each warp, one warp 31,000.
    wb::check_shared_work(*counted, bins, 20, 2500);
}

TEST_CASE("efficient: one atomic for each counted element and no plain store",
          "[efficient][task1][task5]") {
    const Axis axis = masses_axis(1200);
    const auto x = masses(kCount, 8, axis);
    wb::DeviceBuffer<float> d_x(x);
    wb::DeviceBuffer<unsigned> d_counts(Counts(axis.bins, 0u));
    const auto counted = wb::count(
        [&] { histogram_atomics(d_x.get(), kCount, axis, Overflow::kDrop, d_counts.get()); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == 4 * kCount);
    CHECK(counted->global_load_sectors <= kCount / 8 + 1);
    CHECK(counted->global_store_bytes == 0);
    CHECK(counted->global_atomics > 0);
    CHECK(counted->global_atomics <= total(histogram(x, axis, Overflow::kDrop)));
    CHECK(counted->warp_instructions <= uint64_t(8) * kCount);  // serial code needs 15 or more each
    // 50 instructions for an element, 200 where its bin is searched for, and a thread may have 16.
    // One warp with all elements executes 33,000.
    wb::check_shared_work(*counted, kCount / 16, 12, 5000);
    CHECK(counted->device_to_host_bytes == 0);
}
