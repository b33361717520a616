// SPDX-License-Identifier: MIT
// Lesson 28, products: the rows of sparse matrices, empty rows too.
#include "cases/sparse.h"
#include "checks.h"
#include "watches/call_checks.h"

namespace {

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

// y holds other numbers before the call: it must be overwritten, not added to.
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
    // If y held NaN instead of 100 to 400, an addition would not show.
    if (got == want) check_product(multiply, kFourRows, false, kFour);
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

// x is NaN at every column that no entry has: even a product with 0 would be NaN.
void check_unused_columns(Multiply multiply) {
    HostMatrix m = matrix_of(wb::random_ints(200, 116, 0, 40), 1000, 117);
    for (int& column : m.column) column = 3 * (column % 333) + 1;
    Floats x = wb::random_floats(1000, 118);
    for (int i = 0; i < 1000; ++i)
        if (i % 3 != 1) x[i] = kNan;
    const int rows = m.rows();
    wb::DeviceBuffer<int> row_begin(m.row_begin), column(m.column);
    wb::DeviceBuffer<float> value(m.value), d_x(x), y(rows);
    multiply({rows, m.entries(), row_begin.get(), column.get(), value.get()}, d_x.get(), y.get());
    CUDA_CHECK(cudaGetLastError());
    const Floats got = y.download();
    const auto spoilt = std::find_if(got.begin(), got.end(), [](float v) { return std::isnan(v); });
    INFO("an element of x is loaded that no entry needs. It is NaN here, and 0 times NaN is NaN: "
         "row "
         << spoilt - got.begin());
    const bool only_what_is_needed = spoilt == got.end();
    CHECK(only_what_is_needed);
    check_product(multiply, m, false, x);
}

// An infinity in x makes the sum of its own row infinite and changes no other row.
void check_infinity(Multiply multiply) {
    const HostMatrix m{4, {0, 3, 4, 4, 6}, {0, 1, 2, 0, 1, 3}, {1, 2, -3, 4, 5, 6}};
    const Floats x{1, 2, std::numeric_limits<float>::infinity(), 4};
    wb::DeviceBuffer<int> row_begin(m.row_begin), column(m.column);
    wb::DeviceBuffer<float> value(m.value), d_x(x), y(4);
    multiply({4, 6, row_begin.get(), column.get(), value.get()}, d_x.get(), y.get());
    CUDA_CHECK(cudaGetLastError());
    const Floats want{-std::numeric_limits<float>::infinity(), 4, 0, 34}, got = y.download();
    {
        INFO("where an element of x is infinite, row 0 is NaN, want -inf: does a lane without an "
             "entry multiply it by 0?");
        const bool infinite = !std::isnan(got[0]);
        CHECK(infinite);
    }
    if (!std::isnan(got[0]))
        CHECK_ARRAYS(got, want, exact, "where an element of x is infinite, row");
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

// The last entries have numbers just below 2^31 - 1, the largest int. The arrays have 8 GB, of
// which only a few pages are touched.
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

}  // namespace

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

TEST_CASE("task 5: threads load only the elements of x that entries need, and repeat bits",
          "[task5]") {
    check_unused_columns(multiply_by_threads);
    check_infinity(multiply_by_threads);
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

TEST_CASE("task 6: warps load only the elements of x that entries need, and repeat bits",
          "[task6]") {
    check_unused_columns(multiply_by_warps);
    check_infinity(multiply_by_warps);
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
