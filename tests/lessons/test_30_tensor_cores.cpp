// SPDX-License-Identifier: MIT
// Lesson 30: floats rounded to half, and C = A B of halves with float sums, by matrix instructions.
//
// Tolerance: a sum of k products may differ by (k + 1) 2^-23 times the sum of their magnitudes. A
// matrix instruction adds products that are exact, and a card may cut off each partial sum instead
// of rounding it. What is compared with is made of the same halves, so that the rounding of inputs
// is no part of the tolerance. Gaps between rows hold NaN; outputs start as NaN.
#include "call_checks.h"
#include "lesson_test.h"
#include "reference_30_tensor_cores.h"
#include "shared_work.h"
#include "sparse.h"
#include "tensor_cores.h"

#include <algorithm>
#include <limits>

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = 65504;
constexpr int kMost = 65536;     // rows and columns
constexpr int kDeepest = 16384;  // products of an element

using Multiply = void (*)(const half*, const half*, float*, Sizes, Order);
void multiply_any_in_rows(const half* a, const half* b, float* c, Sizes sizes, Order) {
    multiply_any(a, b, c, sizes);
}

// Two matrices and their product, and whether the answer is right.
void check_product(Multiply multiply, const Shape& shape, const Floats& a, const Floats& b) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    const Sizes sizes = shape.sizes();
    const auto [a_pitch, b_pitch, c_pitch] =
        std::tuple(sizes.a_pitch, sizes.b_pitch, sizes.c_pitch);
    CAPTURE(m, n, k, a_pitch, b_pitch, c_pitch);
    const int before = shape.before, b_lines = shape.b_lines(), b_length = shape.b_length();
    const bool in_columns = shape.order == Order::kColumns;
    const Floats b_there = in_columns ? turned(b, k, n) : b;
    const Halves in_a = rounded(laid_out(a, m, k, a_pitch, before));
    const Halves in_b = rounded(laid_out(b_there, b_lines, b_length, b_pitch, before));
    wb::GuardedBuffer<half> d_a(in_a, wb::guard(kGuard)), d_b(in_b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(before + size_t(m) * c_pitch, wb::guard(kGuard));
    multiply(d_a.get() + before, d_b.get() + before, d_c.get() + before, sizes, shape.order);
    CUDA_CHECK(cudaGetLastError());
    const Floats c = d_c.download();
    const Floats got = packed(c, m, n, c_pitch, before);
    const Product want = product(a, b, m, n, k, 0, k);
    CHECK_MATRIX(n, got, want.values, [&](size_t i) { return want.tolerance[i]; });
    const auto run_on = [&](const Halves& all, size_t elements) {  // as if there were no gaps
        return widened(Halves(all.begin() + before, all.begin() + before + elements));
    };
    recognize_mistakes(
        got,
        want,
        a,
        b,
        shape,
        {"rows of A and B are read as if they had no gaps: their pitches say where they begin",
         [&, m = m, n = n, k = k] {
             if (!shape.a_gap && !shape.b_gap) return Floats();
             const Floats right = run_on(in_b, b.size());
             return product(run_on(in_a, a.size()),
                            in_columns ? turned(right, n, k) : right,
                            m,
                            n,
                            k,
                            0,
                            k)
                 .values;
         }});
    size_t spoilt = 0;  // floats that are not part of C and no longer hold their filling
    for (size_t i = 0; i < c.size(); ++i) {
        const bool inside = i >= size_t(before) && int((i - before) % c_pitch) < n && c_pitch > 0;
        spoilt += !inside && !std::isnan(c[i]);
    }
    const bool gaps_unchanged = spoilt == 0;
    INFO(spoilt << " floats between the rows of C were overwritten");
    CHECK(gaps_unchanged);
    wb::check_unchanged(widened(d_a.download()), widened(in_a));
    wb::check_unchanged(widened(d_b.download()), widened(in_b));
    CHECK(d_c.intact());
}

void check_product(Multiply multiply, const Shape& shape) {
    check_product(multiply,
                  shape,
                  random_halves(size_t(shape.m) * shape.k, 100 + shape.m),
                  random_halves(size_t(shape.k) * shape.n, 200 + shape.n));
}

// Of whole fragments. `make picture-30` draws one of the first.
constexpr Shape kWhole[] = {{16, 16, 16},
                            {64, 64, 64},
                            {96, 96, 96},
                            {16, 16, 256},
                            {32, 16, 48},
                            {16, 80, 32},
                            {128, 48, 16},
                            {48, 176, 112},
                            {256, 16, 16},
                            {16, 256, 16}};
constexpr Shape kWholeParts[] = {{32, 32, 32, 16, 0, 0},
                                 {32, 32, 32, 0, 16, 0},
                                 {32, 32, 32, 0, 0, 16},
                                 {48, 32, 64, 8, 24, 4},
                                 {64, 64, 64, 64, 64, 64},
                                 {16, 96, 48, 40, 8, 12, 16},
                                 {80, 48, 32, 0, 0, 0, 48}};
// Of all sizes.
constexpr Shape kSquare[] = {{16, 16, 16},
                             {32, 32, 32},
                             {64, 64, 64},
                             {17, 17, 17},
                             {33, 33, 33},
                             {65, 65, 65},
                             {96, 96, 96},
                             {129, 129, 129}};
constexpr Shape kOblong[] = {{1, 1, 1},
                             {1, 1, 1000},
                             {15, 16, 17},
                             {1, 1000, 1},
                             {1000, 1, 1},
                             {1, 33, 1000},
                             {500, 17, 33},
                             {17, 500, 32},
                             {33, 65, 129},
                             {129, 32, 15},
                             {65, 129, 31},
                             {32, 64, 96},
                             {128, 64, 16},
                             {64, 128, 48},
                             {31, 65, 300}};
constexpr Shape kParts[] = {{50, 50, 50, 14, 0, 0},
                            {50, 50, 50, 0, 14, 0},
                            {50, 50, 50, 0, 0, 14},
                            {33, 65, 40, 31, 1, 95},
                            {64, 64, 64, 64, 64, 64},
                            {64, 64, 64, 1, 1, 1, 1},
                            {128, 128, 64, 1, 2, 3},
                            {128, 128, 64, 0, 0, 0, 2},
                            {128, 128, 64, 8, 8, 4, 7},
                            {7, 200, 33, 3, 56, 5, 3}};

template <size_t kCount>
void check_shapes(Multiply multiply, const Shape (&shapes)[kCount], Order order = Order::kRows) {
    for (Shape shape : shapes) {
        shape.order = order;
        check_product(multiply, shape);
    }
}

// C holds numbers, and not the usual NaN: what is added to them can be recognised.
void check_overwrites(Multiply multiply, int m, int n, int k) {
    const Floats a = random_halves(m * k, 11), b = random_halves(k * n, 12);
    const Floats held = wb::random_floats(m * n, 13, 100, 200);
    wb::GuardedBuffer<half> d_a(rounded(a), wb::guard(kGuard)), d_b(rounded(b), wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(held, wb::guard(kGuard));
    multiply(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n}, Order::kRows);
    CUDA_CHECK(cudaGetLastError());
    const Product want = product(a, b, m, n, k, 0, k);
    const Floats got = d_c.download();
    CHECK_MATRIX(n, got, want.values, [&](size_t i) { return want.tolerance[i]; });
    recognize_mistakes(got,
                       want,
                       a,
                       b,
                       {m, n, k},
                       {"the product is added to what C held before: it should replace that", [&] {
                            Floats sums = held;
                            for (size_t i = 0; i < sums.size(); ++i) sums[i] += want.values[i];
                            return sums;
                        }});
}

// Sums that a half cannot hold: too large, or of too many parts.
void check_long_sums(Multiply multiply, Order order) {
    for (const Shape& shape : {Shape{32, 16, 2048}, {16, 64, 512}}) {
        Shape here = shape;
        here.order = order;
        check_product(multiply,
                      here,
                      random_halves(size_t(here.m) * here.k, 21, 0.5f, 1),
                      random_halves(size_t(here.k) * here.n, 22, 0.5f, 1));
    }
}

void check_extremes(Multiply multiply, Order order) {
    Shape shape{48, 32, 80};
    shape.order = order;
    const size_t in_a = size_t(shape.m) * shape.k, in_b = size_t(shape.k) * shape.n;
    // Near the largest half; A near the smallest ones, which have fewer bits than the others.
    check_product(multiply,
                  shape,
                  random_halves(in_a, 23, kLargest - 2000, kLargest),
                  random_halves(in_b, 24, -kLargest, kLargest));
    check_product(
        multiply, shape, random_halves(in_a, 25, -0x1p-14f, 0x1p-14f), random_halves(in_b, 26));
}

void check_no_products(Multiply multiply, std::vector<std::pair<int, int>> sizes) {
    for (const auto& [m, n] : sizes) check_product(multiply, {m, n, 0, 0, 0, 4});
}

void check_empty(Multiply multiply) {
    const auto counters = wb::count([&] {
        multiply(nullptr, nullptr, nullptr, {0, 0, 0, 0, 0, 0}, Order::kRows);
        multiply(nullptr, nullptr, nullptr, {0, 16, 32, 32, 16, 16}, Order::kColumns);
        multiply(nullptr, nullptr, nullptr, {16, 0, 32, 32, 0, 0}, Order::kRows);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    check_product(multiply, {16, 16, 32});  // and afterwards the device is as usable as before
}

// An infinite element makes a row of C infinite, or a column, and no other. B and A are positive,
// so that no sum of infinities is left undefined. If k is not a multiple of the slab's depth, the
// element is where the last slab has none: what is left of it there, times 0, is NaN.
void check_infinity(Multiply multiply, int m, int n, int k) {
    for (const bool in_a : {true, false}) {
        Floats a = random_halves(m * k, 41, 0.5f, 1), b = random_halves(k * n, 42, 0.5f, 1);
        (in_a ? a[3 * k + 20] : b[20 * n + 3]) = kInfinity;
        wb::GuardedBuffer<half> d_a(rounded(a), wb::guard(kGuard));
        wb::GuardedBuffer<half> d_b(rounded(b), wb::guard(kGuard));
        wb::GuardedBuffer<float> d_c(m * n, wb::guard(kGuard));
        multiply(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n}, Order::kRows);
        CUDA_CHECK(cudaGetLastError());
        const Product want = product(a, b, m, n, k, 0, k);
        CHECK_MATRIX(n, d_c.download(), want.values, [&](size_t i) {
            return std::isfinite(want.values[i]) ? want.tolerance[i] : 0.0;
        });
    }
}

// Rows that begin 2^31 elements after the first and later, in all three. A little of the gap behind
// each row is looked at.
void check_far_rows(Multiply multiply, int m, int n, int k, Sizes sizes) {
    const int gap = 3;
    const Floats a = random_halves(m * k, 31), b = random_halves(k * n, 32);
    const Floats before(size_t(m) * (n + gap), -7.0f);
    wb::SparseMatrix<half> d_a(m, k + gap, sizes.a_pitch, rounded(laid_out(a, m, k, k + gap, 0)));
    wb::SparseMatrix<half> d_b(k, n + gap, sizes.b_pitch, rounded(laid_out(b, k, n, n + gap, 0)));
    wb::SparseMatrix<float> d_c(m, n + gap, sizes.c_pitch, before);
    NEED_MEMORY(d_a && d_b && d_c);
    multiply(d_a.get(), d_b.get(), d_c.get(), sizes, Order::kRows);
    CUDA_CHECK(cudaGetLastError());
    const Product sums = product(a, b, m, n, k, 0, k);
    Floats want = before;
    for (int row = 0; row < m; ++row)
        std::copy_n(sums.values.begin() + row * n, n, want.begin() + row * (n + gap));
    CHECK_MATRIX(n + gap, d_c.download(), want, [&](size_t i) {
        const size_t row = i / (n + gap), col = i % (n + gap);
        return col < size_t(n) ? sums.tolerance[row * n + col] : 0.0;
    });
}

void check_refused(const char* name, Multiply multiply) {
    wb::DeviceBuffer<half> d_a(rounded(wb::random_floats(512, 8)));
    wb::DeviceBuffer<half> d_b(rounded(wb::random_floats(512, 9)));
    wb::DeviceBuffer<float> d_c(256);
    wb::check_refused_launch(name, [&] {
        multiply(d_a.get(), d_b.get(), d_c.get(), {16, 16, 32, 32, 16, 16}, Order::kRows);
    });
}

int up(int n) {
    return (n + kSide - 1) / kSide * kSide;
}

// `values`: rows x cols. The rows lie cols + gap floats apart.
void check_rounded(const Floats& values, int rows, int cols, int gap = 0) {
    CAPTURE(rows, cols, gap);
    const Floats in = laid_out(values, rows, cols, cols + gap, 0);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard));
    const int out_rows = up(rows), out_cols = up(cols);
    wb::GuardedBuffer<half> d_out(size_t(out_rows) * out_cols, wb::guard(kGuard));
    round_and_pad(d_in.get(), d_out.get(), rows, cols, cols + gap);
    CUDA_CHECK(cudaGetLastError());
    const Floats got = widened(d_out.download());
    const auto padded = [&](const std::function<float(float)>& round) {
        Floats out(size_t(out_rows) * out_cols, 0.0f);
        for (int row = 0; row < rows; ++row)
            for (int col = 0; col < cols; ++col)
                out[size_t(row) * out_cols + col] = round(values[size_t(row) * cols + col]);
        return out;
    };
    const auto nearest = [](float x) { return __half2float(__float2half_rn(x)); };
    const Floats want = padded(nearest);
    CHECK_MATRIX(out_cols, got, want);
    wb::recognize<float>(
        got,
        want,
        {{"fractions are cut off: to a half they are rounded to the nearest",
          [&] { return padded([](float x) { return __half2float(__float2half_rz(x)); }); }},
         {"values are rounded upwards",
          [&] { return padded([](float x) { return __half2float(__float2half_ru(x)); }); }},
         {"values that are too large for a half become 65,504, and should become infinite",
          [&] {
              return padded([&](float x) {
                  return std::isnan(x) ? x : nearest(std::clamp(x, -kLargest, kLargest));
              });
          }},
         {"whole numbers are stored: an int lies on the way",
          [&] { return padded([](float x) { return std::trunc(x); }); }},
         {"rows are read as if they had no gaps: their pitch says where they begin", [&] {
              if (!gap) return Floats();
              Floats out(size_t(out_rows) * out_cols, 0.0f);
              for (int row = 0; row < rows; ++row)
                  for (int col = 0; col < cols; ++col)
                      out[size_t(row) * out_cols + col] = nearest(in[size_t(row) * cols + col]);
              return out;
          }}});
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

// What the property tests look at: whole tiles, and every row begins at a multiple of 32 bytes.
constexpr int kRows = 256, kCols = 128, kDepth = 256;
constexpr uint64_t kElements = uint64_t(kRows) * kCols, kProducts = kElements * kDepth;
constexpr uint64_t kInstruction = uint64_t(kSide) * kSide * kSide;  // products of one

std::optional<EmulatorCounters> counted(Multiply multiply, int m, int n, int k,
                                        Order order = Order::kRows) {
    wb::DeviceBuffer<half> d_a(rounded(wb::random_floats(size_t(m) * k, 51)));
    wb::DeviceBuffer<half> d_b(rounded(wb::random_floats(size_t(k) * n, 52)));
    wb::DeviceBuffer<float> d_c(size_t(m) * n);
    const int b_pitch = order == Order::kRows ? n : k;
    return wb::count([&] {
        multiply(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, b_pitch, n}, order);
    });
}

// Nothing but one kernel, which stores each element once.
void check_frugal(const EmulatorCounters& counters, uint64_t elements) {
    CHECK(counters.global_store_bytes == 4 * elements);
    CHECK(counters.launches == 1);
    CHECK(counters.device_to_device_bytes + counters.device_to_host_bytes == 0);
    CHECK(counters.device_allocations == 0);
    CHECK(counters.global_atomics == 0);
    CHECK(counters.double_instructions == 0);
}

}  // namespace

TEST_CASE("task 1: rounds to the nearest half", "[task1]") {
    check_rounded(wb::random_floats(64 * 64, 61), 64, 64);
    check_rounded(wb::random_floats(48 * 80, 62, -70000, 70000), 48, 80);
    // Halfway between two halves, and just beside that: at 1, at 2048 and among the smallest.
    Floats values;
    for (const float one : {1.0f, 2048.0f, 0x1p-14f, 0x1p-20f, 0x1p-24f})
        for (const float next : {one, -one})
            for (const float part : {0.0f, 0.25f, 0.5f, 0.75f, 1.0f, 1.25f, 1.5f, 1.75f}) {
                const float step = std::max(one * 0x1p-10f, 0x1p-24f);
                const float value = next + std::copysign(part * step, next);
                values.push_back(value);
                values.push_back(std::nextafter(value, kInfinity));
                values.push_back(std::nextafter(value, -kInfinity));
            }
    check_rounded(values, int(values.size()) / 16, 16);
}

TEST_CASE("task 1: values near 65,504 and beyond", "[task1]") {
    check_rounded({65504,
                   65519.996f,
                   65520,
                   65536,
                   1e9f,
                   kInfinity,
                   2,
                   -65504,
                   -65519.996f,
                   -65520,
                   -3e38f,
                   -kInfinity,
                   65472,
                   65488,
                   0,
                   1},
                  1,
                  16);
    check_rounded(wb::random_floats(32 * 32, 63, 65000, 66000), 32, 32);
}

TEST_CASE("task 1: pads with zeros to multiples of 16", "[task1]") {
    for (const auto& [rows, cols] :
         {std::pair{1, 1}, {15, 16}, {16, 15}, {17, 17}, {1, 100}, {100, 1}, {33, 50}, {129, 200}})
        check_rounded(wb::random_floats(size_t(rows) * cols, 64 + rows), rows, cols);
}

TEST_CASE("task 1: rounds parts of larger matrices", "[task1]") {
    check_rounded(wb::random_floats(32 * 32, 65), 32, 32, 16);
    check_rounded(wb::random_floats(33 * 17, 66), 33, 17, 1);
    check_rounded(wb::random_floats(7 * 60, 67), 7, 60, 68);
}

TEST_CASE("task 1: launches nothing for an empty matrix", "[task1]") {
    const auto counters = wb::count([&] {
        round_and_pad(nullptr, nullptr, 0, 0, 0);
        round_and_pad(nullptr, nullptr, 0, 5, 5);
        round_and_pad(nullptr, nullptr, 5, 0, 0);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    check_rounded(wb::random_floats(6, 68), 2, 3);
}

TEST_CASE("task 1: as many rows and columns as allowed", "[task1]") {
    check_rounded(wb::random_floats(kMost, 69), kMost, 1);
    check_rounded(wb::random_floats(kMost, 70), 1, kMost);
}

TEST_CASE("task 1: rows that begin 2^31 floats after the first and later", "[task1]") {
    const int rows = 4, cols = 20, pitch = 1 << 30;
    const Floats values = wb::random_floats(rows * cols, 71);
    wb::SparseMatrix<float> d_in(rows, cols, pitch, values);
    NEED_MEMORY(bool(d_in));
    wb::DeviceBuffer<half> d_out(size_t(up(rows)) * up(cols));
    round_and_pad(d_in.get(), d_out.get(), rows, cols, pitch);
    CUDA_CHECK(cudaGetLastError());
    Floats want(size_t(up(rows)) * up(cols), 0.0f);
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            want[size_t(row) * up(cols) + col] =
                __half2float(__float2half_rn(values[size_t(row) * cols + col]));
    CHECK_MATRIX(up(cols), widened(d_out.download()), want);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(256, 8));
    wb::DeviceBuffer<half> d_out(256);
    wb::check_refused_launch("round_and_pad",
                             [&] { round_and_pad(d_in.get(), d_out.get(), 16, 16, 16); });
}

TEST_CASE("task 2: how far the rounding of inputs reaches", "[task2]") {
    const auto near = [](double got, double want) { return std::fabs(got - want) <= want / 100; };
    for (const auto& [k, magnitude] :
         {std::pair{1, 1.0}, {16, 16.0}, {4096, 1365.3}, {16384, 3e9}}) {
        const double got = largest_errors(k, magnitude).inputs, want = 0x1p-10 * magnitude;
        INFO("largest_errors(" << k << ", " << magnitude << ").inputs: got " << got << ", want "
                               << want);
        const bool right = near(got, want);
        CHECK(right);
    }
}

TEST_CASE("task 2: how far the sum reaches", "[task2]") {
    const auto near = [](double got, double want) { return std::fabs(got - want) <= want / 100; };
    for (const auto& [k, magnitude] :
         {std::pair{1, 1.0}, {16, 16.0}, {4096, 1365.3}, {16384, 3e9}}) {
        const double got = largest_errors(k, magnitude).sum, want = (k + 1.0) * 0x1p-23 * magnitude;
        INFO("largest_errors(" << k << ", " << magnitude << ").sum: got " << got << ", want "
                               << want);
        const bool right = near(got, want);
        CHECK(right);
    }
}

TEST_CASE("task 3: multiplies whole fragments", "[task3]") {
    check_shapes(multiply_padded, kWhole);
}

TEST_CASE("task 3: multiplies by a matrix that lies in columns", "[task3]") {
    check_shapes(multiply_padded, kWhole, Order::kColumns);
}

TEST_CASE("task 3: multiplies parts of larger matrices", "[task3]") {
    check_shapes(multiply_padded, kWholeParts);
    check_shapes(multiply_padded, kWholeParts, Order::kColumns);
}

TEST_CASE("task 3: replaces what C held before", "[task3]") {
    check_overwrites(multiply_padded, 64, 48, 32);
}

TEST_CASE("task 3: sums that a half cannot hold", "[task3]") {
    check_long_sums(multiply_padded, Order::kRows);
    check_long_sums(multiply_padded, Order::kColumns);
}

TEST_CASE("task 3: the largest and the smallest halves", "[task3]") {
    check_extremes(multiply_padded, Order::kRows);
}

TEST_CASE("task 3: gives zeros where there is nothing to sum", "[task3]") {
    check_no_products(multiply_padded, {{16, 16}, {48, 80}});
}

TEST_CASE("task 3: launches nothing for an empty matrix", "[task3]") {
    check_empty(multiply_padded);
}

TEST_CASE("task 3: an infinity stays in its row or column", "[task3]") {
    check_infinity(multiply_padded, 48, 32, 64);
}

TEST_CASE("task 3: as many rows and columns as allowed", "[task3]") {
    check_product(multiply_padded, {kMost, 16, 0});
    check_product(multiply_padded, {16, kMost, 0});
    check_product(multiply_padded, {16, 16, kDeepest});
}

TEST_CASE("task 3: rows that begin 2^31 elements after the first and later", "[task3]") {
    const int pitch = 1 << 27;
    check_far_rows(multiply_padded, 32, 16, 32, {32, 16, 32, pitch, pitch, pitch});
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    check_refused("multiply_padded", multiply_padded);
}

TEST_CASE("task 4: multiplies square matrices", "[task4]") {
    check_shapes(multiply_any_in_rows, kSquare);
}

TEST_CASE("task 4: multiplies wide and tall matrices", "[task4]") {
    check_shapes(multiply_any_in_rows, kOblong);
}

TEST_CASE("task 4: multiplies parts of larger matrices", "[task4]") {
    check_shapes(multiply_any_in_rows, kParts);
}

TEST_CASE("task 4: replaces what C held before", "[task4]") {
    check_overwrites(multiply_any_in_rows, 70, 40, 50);
}

TEST_CASE("task 4: sums that a half cannot hold", "[task4]") {
    check_long_sums(multiply_any_in_rows, Order::kRows);
}

TEST_CASE("task 4: the largest and the smallest halves", "[task4]") {
    check_extremes(multiply_any_in_rows, Order::kRows);
}

TEST_CASE("task 4: gives zeros where there is nothing to sum", "[task4]") {
    check_no_products(multiply_any_in_rows, {{1, 1}, {33, 70}, {64, 64}});
}

TEST_CASE("task 4: launches nothing for an empty matrix", "[task4]") {
    check_empty(multiply_any_in_rows);
}

TEST_CASE("task 4: an infinity stays in its row or column", "[task4]") {
    check_infinity(multiply_any_in_rows, 40, 37, 45);
}

TEST_CASE("task 4: as many rows and columns as allowed", "[task4]") {
    check_product(multiply_any_in_rows, {kMost, 1, 0});
    check_product(multiply_any_in_rows, {1, kMost, 0});
    check_product(multiply_any_in_rows, {1, 1, kDeepest});
}

TEST_CASE("task 4: rows that begin 2^31 elements after the first and later", "[task4]") {
    check_far_rows(
        multiply_any_in_rows, 4, 40, 35, {4, 40, 35, 1 << 30, (1 << 26) + 1, (1 << 30) + 5});
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    check_refused("multiply_any", multiply_any_in_rows);
}

TEST_CASE("efficient: each float is loaded once, and each half stored once", "[efficient][task1]") {
    for (const auto& [rows, cols] : {std::pair{256, 128}, {100, 75}}) {
        CAPTURE(rows, cols);
        wb::DeviceBuffer<float> d_in(wb::random_floats(size_t(rows) * cols, 81));
        const uint64_t halves = uint64_t(up(rows)) * up(cols);
        wb::DeviceBuffer<half> d_out(halves);
        const auto counters = wb::count([&, rows = rows, cols = cols] {
            round_and_pad(d_in.get(), d_out.get(), rows, cols, cols);
        });
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == 2 * halves);
        CHECK(counters->global_load_bytes <= 4 * uint64_t(rows) * cols);
        CHECK(counters->launches == 1);
        CHECK(counters->device_allocations == 0);
        CHECK(counters->double_instructions == 0);
        if (rows % 16 || cols % 16) continue;
        CHECK(counters->global_load_sectors <= halves / 8);
        CHECK(counters->global_store_sectors <= halves / 16);
        CHECK(counters->warp_instructions <= 2 * halves);
        wb::check_shared_work(*counters, halves / 16, 30, 2000);
    }
}

TEST_CASE("efficient: one matrix instruction for each 16 x 16 x 16 products",
          "[efficient][task3]") {
    for (const Order order : {Order::kRows, Order::kColumns}) {
        const auto counters = counted(multiply_padded, kRows, kCols, kDepth, order);
        NEED_COUNTERS(counters);
        check_frugal(*counters, kElements);
        CHECK(counters->matrix_products == kProducts);
        CHECK(counters->warp_instructions <= 40 * kProducts / kInstruction);
        CHECK(counters->local_load_requests + counters->local_store_requests == 0);
        wb::check_shared_work(*counters, kElements / 8, 31, 1000);
    }
}

TEST_CASE("efficient: each part is loaded once for each matrix instruction", "[efficient][task3]") {
    for (const Order order : {Order::kRows, Order::kColumns}) {
        const auto counters = counted(multiply_padded, kRows, kCols, kDepth, order);
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == 4 * kElements);
        // 512 bytes of A and as many of B, in pieces of 16 bytes of a row.
        CHECK(counters->global_load_bytes <= 1024 * kProducts / kInstruction);
        CHECK(counters->global_load_sectors <= counters->global_load_bytes / 16);
        CHECK(counters->global_store_sectors <= kElements / 8);
    }
}

TEST_CASE("efficient: matrix instructions make all products", "[efficient][task4]") {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(multiply_any_in_rows, m, n, k);
        NEED_COUNTERS(counters);
        check_frugal(*counters, uint64_t(m) * n);
        const auto tiled = [](int size, int side) {
            return uint64_t(size + side - 1) / side * side;
        };
        // Tiles of C at its edges, and the last slab, may hold zeros.
        CHECK(counters->matrix_products >= uint64_t(up(m)) * up(n) * up(k));
        CHECK(counters->matrix_products <= tiled(m, 64) * tiled(n, 64) * tiled(k, 32));
    }
}

TEST_CASE("efficient: 64 x 64 elements share what their block loads", "[efficient][task4]") {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(multiply_any_in_rows, m, n, k);
        NEED_COUNTERS(counters);
        const uint64_t down = uint64_t(m + 63) / 64, across = uint64_t(n + 63) / 64;
        const uint64_t most = k * (m * across + n * down);
        const uint64_t halves = counters->global_load_bytes / 2;
        INFO(halves << " halves are loaded from global memory, want at most " << most);
        CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
        CHECK(halves <= most);
    }
}

TEST_CASE("efficient: slabs are loaded and C is stored by neighbouring threads, side by side",
          "[efficient][task4]") {
    const auto counters = counted(multiply_any_in_rows, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->global_load_sectors <= counters->global_load_bytes / 32);
    CHECK(counters->global_store_sectors <= kElements / 8);
}

TEST_CASE("efficient: fragments are loaded and stored without bank conflicts",
          "[efficient][task4]") {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(multiply_any_in_rows, m, n, k);
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
        CHECK(counters->shared_load_conflicts == 0);
        CHECK(counters->shared_store_conflicts == 0);
    }
}

TEST_CASE("efficient: a fragment serves several matrix instructions", "[efficient][task4]") {
    const auto counters = counted(multiply_any_in_rows, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    // What is copied from a tile of C, 32 elements at a time, is no fragment.
    const uint64_t copied = kElements / 32, requests = counters->shared_load_requests;
    const double each = (requests > copied ? double(requests - copied) : 0.0) /
                        double(counters->matrix_products) * double(kInstruction);
    INFO(each << " loads from shared memory for each matrix instruction, want at most 1.25");
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(each <= 1.25);
    CHECK(counters->local_load_requests + counters->local_store_requests == 0);
}

TEST_CASE("efficient: two barriers for each slab, and all warps share the work",
          "[efficient][task4]") {
    const auto counters = counted(multiply_any_in_rows, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    // A slab of 64 x 64 elements has at least 16 columns of A; and two for the tile of C.
    CHECK(counters->block_barriers <= 2 * kProducts / (64 * 64 * 16) + 2 * counters->blocks);
    CHECK(counters->warp_instructions <= 250 * kProducts / kInstruction);
    wb::check_shared_work(*counters, kElements / 128, 30, 20000);
}
