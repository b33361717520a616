// SPDX-License-Identifier: MIT
// Lesson 28: runs of equal keys are summed, and the rows of sparse matrices; each group and each
// row once, empty rows too.
//
// Tolerance: sums may be added up in any order, so the bound grows with the number of terms and
// their magnitude (bound_of_sum); sums of eighths are exact in every order. Outputs start as NaN.
#include "call_checks.h"
#include "group_by_and_spmv.h"
#include "lesson_test.h"
#include "reference_28_group_by_and_spmv.h"
#include "shared_work.h"
#include "sparse.h"

namespace {

constexpr size_t kGuard = 8192;  // elements on each side of every array, on a real GPU
constexpr int kSizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024};
constexpr int kMillion = (1 << 20) + 1;  // one tile more than the scan takes in a round
constexpr int kLargeSizes[] = {1025, 2047, 2048, 2049, 8191, 8193, 33000};

// Scratch memory of just the size that was promised.
struct Scratch {
    explicit Scratch(int n) : memory(scratch_bytes(n) / sizeof(uint64_t), wb::guard(kGuard)) {}
    ~Scratch() { CHECK(memory.intact()); }
    void* get() { return memory.get(); }
    wb::GuardedBuffer<uint64_t> memory;
};

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
    // What the steps of the scan make of it, with another place where segments begin.
    const auto scanned = [&](auto&& begins_at) {
        Floats out = x;
        for (int step = 1; step < 32; step *= 2) {
            const Floats last = out;
            for (int i = 0; i < n; ++i)
                if (i % 32 >= step && i - step >= begins_at(i)) out[i] += last[i - step];
        }
        return out;
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
         {"right in the first warp of a block alone: what is a lane's number in the others?",
          [&] { return sums([&](int i) { return i % kThreads < 32 ? begin(i) : i / 32 * 32; }); }},
         {"a head ends a segment: it should begin one",
          [&] {
              return sums([&](int i) {
                  while (i % 32 != 0 && !head[i - 1]) --i;
                  return i;
              });
          }},
         {"the lowest head of the warp is taken, and not the nearest",
          [&] {
              return scanned([&](int i) {
                  int first = i / 32 * 32;
                  while (first < i && !head[first]) ++first;
                  return head[first] ? first : i / 32 * 32;
              });
          }},
         {"a lane overlooks its own head, and adds what comes before it",
          [&] { return scanned([&](int i) { return i % 32 ? begin(i - 1) : i; }); }},
         {"the elements themselves: nothing was added", [&] { return x; }}},
        near);
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_sums.intact());
}

std::vector<unsigned char> random_heads(int n, uint64_t seed, int percent) {
    std::vector<unsigned char> heads(n);  // any number but 0 is one
    for (int i = 0; i < n; ++i)
        if (int(wb::random_bits(seed, i) % 100) < percent)
            heads[i] = static_cast<unsigned char>(1 + wb::random_bits(seed + 1, i) % 255);
    return heads;
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
    std::vector<wb::Mistake<int>> mistakes{
        {"the keys are not sorted, and that was not noticed", [&] { return Ints{groups}; }}};
    if (sorted)
        mistakes = {{"sorted keys are said not to be: equal keys may follow each other",
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

// A table in device memory, with exactly as many rows for the sums as there are groups.
struct DeviceTable {
    // With `longest`, that of the groups, the columns are eighths.
    DeviceTable(int n, uint64_t seed, int longest, int rows) {
        for (int c = 0; c < kColumns; ++c) {
            host.push_back(longest ? eighths(n, seed + 10 * c, longest)
                                   : wb::random_floats(n, seed + 10 * c, -3, 3));
            in.emplace_back(host[c], wb::guard(kGuard));
            sums.emplace_back(rows, wb::guard(kGuard));
        }
    }
    ConstTable input() { return {{in[0].get(), in[1].get(), in[2].get(), in[3].get()}}; }
    Table output() { return {{sums[0].get(), sums[1].get(), sums[2].get(), sums[3].get()}}; }
    std::vector<Floats> host;
    std::vector<wb::GuardedBuffer<float>> in, sums;
};

void check_sums(const Ints& keys, uint64_t seed, bool whole = false) {
    const int n = int(keys.size());
    CAPTURE(n);
    const Ints begins = begins_of(keys);
    const int groups = int(begins.size()) - 1;
    int longest = 0;
    for (int g = 0; whole && g < groups; ++g)
        longest = std::max(longest, begins[g + 1] - begins[g]);
    DeviceTable table(n, seed, longest, groups);
    wb::GuardedBuffer<int> d_key(keys, wb::guard(kGuard)), d_group_key(groups, wb::guard(kGuard));
    Scratch scratch(n);
    const int got =
        sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(Ints{got}, Ints{groups}, exact, "the returned number");
    Ints want_keys(groups);
    for (int g = 0; g < groups; ++g) want_keys[g] = keys[begins[g]];
    const Ints got_keys = d_group_key.download();
    CHECK_ARRAYS(got_keys, want_keys, exact, "key of group");
    wb::recognize<int>(got_keys, want_keys, {{"the number of the group, not its key", [&] {
                                                  Ints out(groups);
                                                  std::iota(out.begin(), out.end(), 0);
                                                  return out;
                                              }}});
    for (int c = 0; c < kColumns; ++c) {
        const Floats& x = table.host[c];
        const auto begin = [&](int g) { return begins[g]; };
        const auto end = [&](int g) { return begins[g + 1]; };
        const Floats want = sums_over(x, groups, begin, end), out = table.sums[c].download();
        const auto near = [&](size_t g) {
            if (whole) return 0.0;
            double magnitude = 0;
            for (int i = begins[g]; i < begins[g + 1]; ++i) magnitude += std::fabs(x[i]);
            return bound_of_sum(magnitude, begins[g + 1] - begins[g]);
        };
        const std::string what = "column " + std::to_string(c) + " of group";
        CHECK_ARRAYS(out, want, near, what.c_str());
        auto mistakes = mistakes_of_groups(keys, begins, x);
        if (c > 0)
            mistakes.push_back({"the sums of column 0: each column has its own",
                                [&] { return sums_over(table.host[0], groups, begin, end); }});
        wb::recognize<float>(out, want, mistakes, near);
        wb::check_unchanged(table.in[c].download(), x);
        CHECK(table.sums[c].intact());
    }
    wb::check_unchanged(d_key.download(), keys);
    CHECK(d_group_key.intact());
}

// Keys that are not sorted: the number says so, and nothing is written.
void check_not_sorted(const Ints& keys) {
    const int n = int(keys.size());
    CAPTURE(n);
    DeviceTable table(n, 5, n, n);
    wb::GuardedBuffer<int> d_key(keys, wb::guard(kGuard)), d_group_key(n, wb::guard(kGuard));
    Scratch scratch(n);
    const int got =
        sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(Ints{got}, Ints{kNotSorted}, exact, "the returned number");
    const Ints out = d_group_key.download();
    size_t written = std::count_if(out.begin(), out.end(), [](int key) { return key != -1; });
    for (int c = 0; c < kColumns; ++c)
        for (const float sum : table.sums[c].download()) written += !std::isnan(sum);
    INFO(written << " places of the output are written, though the keys are not sorted");
    const bool nothing_is_written = written == 0;
    CHECK(nothing_is_written);
}

using Multiply = void (*)(CsrMatrix, const float*, float*);

// With x random, or whole numbers (`whole`), or given.
void check_product(Multiply multiply, const HostMatrix& m, bool whole = false, Floats x = {}) {
    const int rows = m.rows(), columns = m.columns, entries = m.entries();
    CAPTURE(rows, columns, entries);
    if (x.empty()) x = wb::random_floats(columns, 71);
    if (whole)
        for (size_t i = 0; i < x.size(); ++i) x[i] = float(1 + wb::random_bits(72, i) % 8);
    wb::GuardedBuffer<int> row_begin(m.row_begin, wb::guard(kGuard));
    wb::GuardedBuffer<int> column(m.column, wb::guard(kGuard));
    wb::GuardedBuffer<float> value(m.value, wb::guard(kGuard)), d_x(x, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_y(rows, wb::guard(kGuard));
    multiply({rows, entries, row_begin.get(), column.get(), value.get()}, d_x.get(), d_y.get());
    CUDA_CHECK(cudaGetLastError());
    const Product want =
        product_of(m, [&](int, int i) { return double(m.value[i]) * double(x[m.column[i]]); });
    const auto near = [&](size_t r) { return whole ? 0.0 : want.bound[r]; };
    const Floats got = d_y.download();
    CHECK_ARRAYS(got, want.y, near, "row");
    wb::recognize<float>(got, want.y, mistakes_of_products(m, x), near);
    wb::check_unchanged(row_begin.download(), m.row_begin);
    wb::check_unchanged(column.download(), m.column);
    wb::check_unchanged(value.download(), m.value);
    wb::check_unchanged(d_x.download(), x);
    CHECK(d_y.intact());
}

// 1 0 2 0      2
// 0 0 0 0      0   its row is empty
// 0 3 0 4  *   1
// 5 0 0 0      3
const HostMatrix kFourRows{4, {0, 2, 2, 4, 5}, {0, 2, 1, 3, 0}, {1, 2, 3, 4, 5}};
const Floats kFour{2, 0.5f, 1, 3};

// y holds something before: it is written, and not added to.
void check_four_rows(Multiply multiply) {
    wb::DeviceBuffer<int> row_begin(kFourRows.row_begin), column(kFourRows.column);
    wb::DeviceBuffer<float> value(kFourRows.value), x(kFour), y(Floats{100, 200, 300, 400});
    multiply({4, 5, row_begin.get(), column.get(), value.get()}, x.get(), y.get());
    CUDA_CHECK(cudaGetLastError());
    const Floats want{4, 0, 13.5f, 10};
    const Floats got = y.download();
    CHECK_ARRAYS(got, want, exact, "where y held 100 to 400, row");
    wb::recognize<float>(got,
                         want,
                         {{"the sum is added to what y held before",
                           [] {
                               return Floats{104, 200, 313.5f, 410};
                           }},
                          {"the row that is empty is not written: its sum is 0", [] {
                               return Floats{4, 200, 13.5f, 10};
                           }}});
    check_product(multiply, kFourRows, false, kFour);
}

HostMatrix identity(int n) {
    HostMatrix m = matrix_of(Ints(n, 1), n, 73);
    std::iota(m.column.begin(), m.column.end(), 0);
    std::fill(m.value.begin(), m.value.end(), 1.0f);
    return m;
}

void check_sizes(Multiply multiply) {
    for (const int rows : {1, 2, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1000}) {
        check_product(multiply, matrix_of(wb::random_ints(rows, rows, 0, 9), 300, 80 + rows));
        check_product(multiply, matrix_of(wb::random_ints(rows, rows, 0, 70), 40, 90 + rows));
    }
    check_product(multiply, matrix_of(wb::random_ints(40000, 99, 0, 3), 1000, 100));
    check_product(multiply, identity(1000));
}

void check_empty_rows(Multiply multiply) {
    check_product(multiply, matrix_of({0}, 5, 101));
    check_product(multiply, matrix_of(Ints(300, 0), 5, 102));
    check_product(multiply, matrix_of({0, 3, 0, 0, 40, 1, 0}, 50, 103));
    Ints lengths = wb::random_ints(500, 104, 1, 6);
    for (size_t r = 0; r < lengths.size(); r += 2) lengths[r] = 0;
    check_product(multiply, matrix_of(lengths, 600, 105));
}

void check_lengths(Multiply multiply) {
    check_product(multiply, matrix_of({31, 32, 33, 63, 64, 65, 1, 127, 128, 129}, 1000, 106));
    Ints lengths = wb::random_ints(300, 107, 0, 4);
    lengths[150] = 20000;  // a full row
    check_product(multiply, matrix_of(lengths, 20000, 108));
    check_product(multiply, matrix_of(lengths, 20000, 109, true), true);
    check_product(multiply, matrix_of({20000}, 20000, 110, true), true);
    check_product(multiply, matrix_of(Ints(40, 500), 3, 111, true), true);
    check_product(multiply, matrix_of(Ints(3, 500), 4000, 112, true), true);
}

void check_parts(Multiply multiply) {
    for (const int before : {1, 3, 100, 5000}) {
        const Ints lengths = wb::random_ints(200, 113, 0, 50);
        check_product(multiply, matrix_of(lengths, 300, 114, false, before, 77));
        check_product(multiply, matrix_of({0, 4, 0}, 300, 115, true, before, 1), true);
    }
}

// NaN wherever no entry has its column: a product with 0 would be NaN as well.
void check_unused_columns(Multiply multiply) {
    HostMatrix m = matrix_of(wb::random_ints(200, 116, 0, 40), 1000, 117);
    for (int& column : m.column) column = 3 * (column % 333) + 1;
    Floats x = wb::random_floats(1000, 118);
    for (int i = 0; i < 1000; ++i)
        if (i % 3 != 1) x[i] = kNan;
    check_product(multiply, m, false, x);
}

void check_same_in_every_run(Multiply multiply) {
    const HostMatrix m = matrix_of(wb::random_ints(300, 119, 0, 200), 500, 120);
    wb::DeviceBuffer<int> row_begin(m.row_begin), column(m.column);
    wb::DeviceBuffer<float> value(m.value), x(wb::random_floats(500, 121));
    Ints first;
    for (int run = 0; run < 3; ++run) {
        wb::DeviceBuffer<float> y(m.rows());
        multiply(
            {m.rows(), m.entries(), row_begin.get(), column.get(), value.get()}, x.get(), y.get());
        const Ints bits = bits_of(y.download());
        if (run == 0) first = bits;
        CHECK_ARRAYS(bits, first, exact, "in another run, bits of row");
    }
    check_product(multiply, m);
}

// The last entries have numbers just below 2^31 - 1, the largest int. Of the arrays of 8 GB only
// some pages are touched.
void check_last_entries(Multiply multiply) {
    const Ints lengths{3, 0, 70, 33, 1};
    const int entries = 107, first = INT_MAX - entries;
    const HostMatrix m = matrix_of(lengths, 50, 122, true);
    wb::SparseMatrix<float> value(1, 1, INT_MAX, {0.0f});
    NEED_MEMORY(value);
    wb::SparseMatrix<int> column(1, 1, INT_MAX, {0});
    NEED_MEMORY(column);
    CUDA_CHECK(cudaMemcpy(value.get() + first, m.value.data(), 4 * entries, cudaMemcpyDefault));
    CUDA_CHECK(cudaMemcpy(column.get() + first, m.column.data(), 4 * entries, cudaMemcpyDefault));
    Ints row_begin = m.row_begin;
    for (int& begin : row_begin) begin += first;
    wb::DeviceBuffer<int> d_row_begin(row_begin);
    Floats x(50);
    for (size_t i = 0; i < x.size(); ++i) x[i] = float(1 + wb::random_bits(123, i) % 8);
    wb::DeviceBuffer<float> d_x(x), d_y(m.rows());
    multiply(
        {m.rows(), entries, d_row_begin.get(), column.get(), value.get()}, d_x.get(), d_y.get());
    CUDA_CHECK(cudaGetLastError());
    const Product want =
        product_of(m, [&](int, int i) { return double(m.value[i]) * double(x[m.column[i]]); });
    CHECK_ARRAYS(d_y.download(), want.y, exact, "row");
}

// What the property tests of matrices look at.
struct DeviceMatrix {
    explicit DeviceMatrix(const HostMatrix& m)
        : rows(m.rows()), entries(m.column.size()), row_begin(m.row_begin), column(m.column),
          value(m.value), x(wb::random_floats(m.columns, 131)), y(m.rows()) {}
    std::optional<EmulatorCounters> count(Multiply multiply) {
        return wb::count([&] {
            multiply(
                {rows, int(entries), row_begin.get(), column.get(), value.get()}, x.get(), y.get());
        });
    }
    int rows;
    uint64_t entries;
    wb::DeviceBuffer<int> row_begin, column;
    wb::DeviceBuffer<float> value, x, y;
};

constexpr int kCount = 200003;
constexpr int kTiles = (kCount + kTile - 1) / kTile;

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

TEST_CASE("task 3: sums the groups of a tile", "[task3]") {
    for (const int n : kSizes) {
        check_sums(sorted_keys(n, 300 + n, 15), 301, true);
        check_sums(sorted_keys(n, 310 + n, 40), 311);
    }
}

TEST_CASE("task 3: groups that are longer than a round, or end where it ends", "[task3]") {
    check_sums(keys_of_lengths({32, 32, 64, 1, 31, 33, 95, 2}), 320, true);
    check_sums(keys_of_lengths({1, 200, 1, 300, 522}), 321, true);
    check_sums(keys_of_lengths({31, 1, 1, 31, 960}), 322, true);
}

TEST_CASE("task 3: keys that are all equal, all different, far apart or negative", "[task3]") {
    for (const int n : {1, 33, 1000, 1024}) {
        check_sums(Ints(n, 7), 330, true);
        check_sums(sorted_keys(n, 331, 100, 1), 332, true);
        check_sums(sorted_keys(n, 333, 10, 100000, -300000000), 334, true);
    }
    check_sums({INT_MIN, INT_MIN, -1, 0, INT_MAX, INT_MAX}, 335, true);
}

TEST_CASE("task 4: sums the groups of any number of rows", "[task4]") {
    for (const int n : kLargeSizes) {
        check_sums(sorted_keys(n, 400 + n, 15), 401, true);
        check_sums(sorted_keys(n, 410 + n, 1), 411);
    }
}

TEST_CASE("task 4: groups that go on over many tiles", "[task4]") {
    for (const int n : {1025, 5000, 33 * kTile, 70 * kTile + 5}) check_sums(Ints(n, 3), 420, true);
    check_sums(keys_of_lengths({500, 40 * kTile, 100, 31 * kTile, 33 * kTile, 9}), 421, true);
    check_sums(keys_of_lengths({32 * kTile, 65 * kTile, 1}), 422, true);
}

TEST_CASE("task 4: groups that begin or end where a tile does", "[task4]") {
    check_sums(keys_of_lengths({kTile, kTile, 2 * kTile, 1, kTile - 1, 3 * kTile}), 430, true);
    check_sums(keys_of_lengths({kTile - 1, 1, 1, kTile - 1, kTile + 1, kTile - 1}), 431, true);
    check_sums(keys_of_lengths({kTile + 1, 2 * kTile - 1, kTile, 2}), 432, true);
    check_sums(sorted_keys(5000, 433, 100, 1), 434, true);
}

TEST_CASE("task 4: sums a million rows whose keys have gaps", "[task4]") {
    check_sums(poisson_keys(kMillion, 440), 441);
}

TEST_CASE("task 4: small sums after large ones keep their digits", "[task4]") {
    const int n = 20000;
    const Ints keys = sorted_keys(n, 450, 10);
    const Ints begins = begins_of(keys);
    DeviceTable table(n, 451, 1000, int(begins.size()) - 1);
    for (int i = 0; i < begins[5]; ++i) table.host[0][i] = 1e9f;  // the first five groups
    table.in[0] = wb::GuardedBuffer<float>(table.host[0], wb::guard(kGuard));
    wb::DeviceBuffer<int> d_key(keys), d_group_key(begins.size() - 1);
    Scratch scratch(n);
    sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
    Floats got = table.sums[0].download();
    Floats want = sums_over(
        table.host[0],
        int(got.size()),
        [&](int g) { return begins[g]; },
        [&](int g) { return begins[g + 1]; });
    got.erase(got.begin(), got.begin() + 5);
    want.erase(want.begin(), want.begin() + 5);
    CHECK_ARRAYS(got, want, exact, "after five groups of large values, group");
}

TEST_CASE("task 4: writes nothing where the keys are not sorted", "[task4]") {
    check_sums(sorted_keys(3000, 460, 20), 461, true);
    for (const int n : {2, 1000, 1024, 1025, 4000}) {
        Ints keys = sorted_keys(n, 462, 20);
        keys[n - 1] = keys[n - 2] - 1;
        check_not_sorted(keys);
    }
}

TEST_CASE("task 4: gives the same bits in every run", "[task4]") {
    const int n = 50000;
    const Ints keys = sorted_keys(n, 470, 1);
    const int groups = int(begins_of(keys).size()) - 1;
    wb::DeviceBuffer<int> d_key(keys), d_group_key(groups);
    std::vector<Ints> first;
    for (int run = 0; run < 3; ++run) {
        DeviceTable table(n, 471, 0, groups);
        Scratch scratch(n);
        sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
        for (int c = 0; c < kColumns; ++c) {
            const Ints bits = bits_of(table.sums[c].download());
            if (run == 0) first.push_back(bits);
            CHECK_ARRAYS(bits, first[c], exact, "in another run, bits of group");
        }
    }
    check_sums(keys, 471);
}

TEST_CASE("task 5: a thread multiplies each row of four", "[task5]") {
    check_four_rows(multiply_by_threads);
}

TEST_CASE("task 5: threads multiply matrices of any shape", "[task5]") {
    check_sizes(multiply_by_threads);
}

TEST_CASE("task 5: threads write 0 for empty rows", "[task5]") {
    check_empty_rows(multiply_by_threads);
}

TEST_CASE("task 5: threads multiply rows of any length", "[task5]") {
    check_lengths(multiply_by_threads);
}

TEST_CASE("task 5: threads multiply some rows of a larger matrix", "[task5]") {
    check_parts(multiply_by_threads);
    check_last_entries(multiply_by_threads);
}

TEST_CASE("task 5: threads load of x only what is needed, and repeat their bits", "[task5]") {
    check_unused_columns(multiply_by_threads);
    check_same_in_every_run(multiply_by_threads);
}

TEST_CASE("task 6: a warp multiplies each row of four", "[task6]") {
    check_four_rows(multiply_by_warps);
}

TEST_CASE("task 6: warps multiply matrices of any shape", "[task6]") {
    check_sizes(multiply_by_warps);
}

TEST_CASE("task 6: warps write 0 for empty rows", "[task6]") {
    check_empty_rows(multiply_by_warps);
}

TEST_CASE("task 6: warps multiply rows of any length", "[task6]") {
    check_lengths(multiply_by_warps);
}

TEST_CASE("task 6: warps multiply some rows of a larger matrix", "[task6]") {
    check_parts(multiply_by_warps);
}

TEST_CASE("task 6: warps multiply the entries with the largest numbers", "[task6]") {
    check_last_entries(multiply_by_warps);
}

TEST_CASE("task 6: warps load of x only what is needed, and repeat their bits", "[task6]") {
    check_unused_columns(multiply_by_warps);
    check_same_in_every_run(multiply_by_warps);
}

TEST_CASE("task 6: no rows launch nothing, and a refused launch is an exception", "[task6]") {
    check_product(multiply_by_warps, kFourRows, false, kFour);
    wb::DeviceBuffer<int> row_begin(Ints{0, 1}), column(Ints{0});
    wb::DeviceBuffer<float> value(Floats{2}), x(Floats{3}), y(1);
    const auto counters = wb::count([&] {
        multiply_by_threads({0, 0, row_begin.get(), nullptr, nullptr}, nullptr, nullptr);
        multiply_by_warps({0, 0, row_begin.get(), nullptr, nullptr}, nullptr, nullptr);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    const CsrMatrix one{1, 1, row_begin.get(), column.get(), value.get()};
    wb::check_refused_launch("multiply_by_threads",
                             [&] { multiply_by_threads(one, x.get(), y.get()); });
    wb::check_refused_launch("multiply_by_warps",
                             [&] { multiply_by_warps(one, x.get(), y.get()); });
    Scratch scratch(1);
    wb::check_refused_launch("count_groups", [&] { count_groups(column.get(), 1, scratch.get()); });
}

TEST_CASE("efficient: a warp sums its segments by shuffles, in a few steps", "[efficient][task1]") {
    wb::DeviceBuffer<float> d_x(wb::random_floats(kCount, 501)), d_sums(kCount);
    wb::DeviceBuffer<unsigned char> d_head(random_heads(kCount, 502, 10));
    const auto counters =
        wb::count([&] { sums_in_warps(d_x.get(), d_head.get(), kCount, d_sums.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes > 0);
    CHECK(counters->shared_store_requests == 0);
    CHECK(counters->local_store_requests == 0);
    CHECK(counters->global_atomics == 0);
    CHECK(counters->block_barriers == 0);
    const uint64_t each = counters->warp_instructions / std::max<uint64_t>(counters->warps, 1);
    INFO("a warp executes " << each << " instructions");
    CHECK(each <= 200);
}

TEST_CASE("efficient: keys are counted side by side, by all warps", "[efficient][task2]") {
    wb::DeviceBuffer<int> d_key(sorted_keys(kCount, 503, 10));
    wb::DeviceBuffer<uint64_t> d_scratch(scratch_bytes(kCount) / sizeof(uint64_t));
    const auto counters = wb::count([&] { count_groups(d_key.get(), kCount, d_scratch.get()); });
    NEED_COUNTERS(counters);
    const double each = 8.0 * double(counters->global_load_sectors) / kCount;
    INFO(each << " keys are loaded for each of the " << kCount);
    CHECK(each <= 5);  // the key and its neighbour; 2.25 where both stay in registers
    CHECK(counters->launches <= 3);
    CHECK(counters->global_atomics == 0);
    CHECK(counters->global_store_bytes <= 64 * kTiles);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes <= 16);
    wb::check_shared_work(*counters, 32 * kTiles, 16, 4000);
}

TEST_CASE("efficient: groups are summed without atomics, each row loaded once",
          "[efficient][task1][task2][task3][task4]") {
    const int percent = GENERATE(10, 100, 0);  // of rows that begin a group
    CAPTURE(percent);
    const Ints keys = sorted_keys(kCount, 504, percent);
    const uint64_t groups = begins_of(keys).size() - 1;
    wb::DeviceBuffer<int> d_key(keys), d_group_key(groups);
    DeviceTable table(kCount, 505, 0, int(groups));
    wb::DeviceBuffer<uint64_t> d_scratch(scratch_bytes(kCount) / sizeof(uint64_t));
    const auto counters = wb::count([&] {
        sum_by_key(
            d_key.get(), table.input(), kCount, d_group_key.get(), table.output(), d_scratch.get());
    });
    NEED_COUNTERS(counters);
    CHECK(counters->global_atomics + counters->shared_atomics == 0);
    CHECK(counters->global_store_bytes >= 20 * groups);
    CHECK(counters->global_store_bytes <= 20 * groups + 128 * kTiles);
    const double each = 8.0 * double(counters->global_load_sectors) / kCount;
    INFO(each << " words are loaded for each row of a key and four columns");
    // Four columns, the key twice to be counted, and with its two neighbours to be summed.
    CHECK(each <= 17);
    CHECK(counters->launches <= 4);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->device_to_host_bytes <= 16);
    // A tile has 32 rounds of some 120 instructions. One warp for the only group would execute
    // 500,000, one thread 10,000,000.
    wb::check_shared_work(*counters, 32 * kTiles, 16, 32000);
}

TEST_CASE("efficient: one store for each row, each entry loaded once", "[efficient][task5]") {
    DeviceMatrix m(matrix_of(wb::random_ints(10000, 506, 0, 9), 5000, 507));
    const uint64_t rows = m.rows;
    const auto counters = m.count(multiply_by_threads);
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_store_bytes == 4 * rows);
    CHECK(counters->global_load_bytes >= 12 * m.entries);
    CHECK(counters->global_load_bytes <= 12 * m.entries + 16 * rows);
    CHECK(counters->global_atomics == 0);
    wb::check_shared_work(*counters, rows / 4, 10, 1500);
}

TEST_CASE("efficient: the lanes of a warp load entries side by side", "[efficient][task6]") {
    DeviceMatrix m(band_of(wb::random_ints(200, 508, 32, 1000), 5000, 509));
    const uint64_t rows = m.rows;
    const auto counters = m.count(multiply_by_warps);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= 4 * rows);
    CHECK(counters->global_atomics == 0);
    // Value, column and x: 4 sectors each for 32 entries, 5 where they do not start at a multiple
    // of 8; and the row's ends.
    const double each = 32.0 * double(counters->global_load_sectors) / double(m.entries);
    INFO(each << " sectors are loaded for 32 entries: values, columns and x");
    CHECK(each >= 4);
    CHECK(each <= 24);
    // The longest row has 32 rounds.
    wb::check_shared_work(*counters, 32 * rows, 20, 2000);
}

TEST_CASE("efficient: a full row occupies all lanes of a warp", "[efficient][task6]") {
    Ints lengths = wb::random_ints(300, 510, 0, 4);
    lengths[150] = 20000;
    DeviceMatrix m(matrix_of(lengths, 20000, 511));
    const auto counters = m.count(multiply_by_warps);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= 4 * uint64_t(m.rows));
    CHECK(counters->global_atomics == 0);
    // 625 rounds of 32 entries, some 15 instructions each. A lane alone needs 200,000.
    INFO("the busiest warp executes " << counters->busiest_warp_instructions << " instructions");
    CHECK(counters->busiest_warp_instructions <= 20000);
}
