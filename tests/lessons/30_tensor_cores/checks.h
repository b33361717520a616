// SPDX-License-Identifier: MIT
// Shared by the tests of lesson 30: C = A B for all sizes, and the bound of its error.
//
// Tolerance: a sum of k products may differ by (k + 1) 2^-23 times the sum of their magnitudes. A
// matrix instruction adds products that are exact, and a card may cut off each partial sum instead
// of rounding it. The reference uses the same halves, so the tolerance does not include the
// rounding of inputs. Gaps between rows hold NaN; outputs start as NaN.
#pragma once

#include "cases/sparse.h"
#include "reference.h"
#include "watches/call_checks.h"

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = 65504;
constexpr int kMost = 65536;     // rows and columns
constexpr int kDeepest = 16384;  // products of an element

using Multiply = void (*)(const half*, const half*, float*, Sizes, Order);
inline void multiply_any_in_rows(const half* a, const half* b, float* c, Sizes sizes, Order) {
    multiply_any(a, b, c, sizes);
}

inline int up(int n) {
    return (n + kSide - 1) / kSide * kSide;
}

// Two matrices and their product, and whether the answer is right.
inline void check_product(Multiply multiply, const Shape& shape, const Floats& a, const Floats& b) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    const Sizes sizes = shape.sizes();
    const auto [a_pitch, b_pitch, c_pitch] =
        std::tuple(sizes.a_pitch, sizes.b_pitch, sizes.c_pitch);
    CAPTURE(m, n, k, a_pitch, b_pitch, c_pitch);
    const int before = shape.before, b_lines = shape.b_lines(), b_length = shape.b_length();
    const bool in_columns = shape.order == Order::kColumns;
    const Floats b_there = in_columns ? transposed(b, k, n) : b;
    const Halves in_a = rounded(laid_out(a, m, k, a_pitch, before));
    const Halves in_b = rounded(laid_out(b_there, b_lines, b_length, b_pitch, before));
    wb::GuardedBuffer<half> d_a(in_a, wb::guard(kGuard)), d_b(in_b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(before + size_t(m) * c_pitch, wb::guard(kGuard));
    multiply(d_a.get() + before, d_b.get() + before, d_c.get() + before, sizes, shape.order);
    CUDA_CHECK(cudaGetLastError());
    const Floats c = d_c.download();
    const Floats got = packed(c, m, n, c_pitch, before);
    const Product want = product(a, b, m, n, k);
    CHECK_MATRIX(n, got, want.values, want.tolerance());
    const auto run_on = [&](const Halves& all, size_t elements) {  // as if there were no gaps
        return widened(Halves(all.begin() + before, all.begin() + before + elements));
    };
    recognize_mistakes(got, want, a, b, shape, [&, n = n, k = k](const ProductMistakes& with) {
        const auto without_gaps = [&, n, k] {
            const Floats right = run_on(in_b, b.size());
            return with.of(run_on(in_a, a.size()), in_columns ? transposed(right, n, k) : right);
        };
        return Mistakes{
            {"rows of A and B are read as if they had no gaps: their pitches say where they begin",
             ProductMistakes::where(shape.a_gap || shape.b_gap, without_gaps)}};
    });
    wb::check_gaps_unchanged(c, n, c_pitch, before);
    wb::check_unchanged(widened(d_a.download()), widened(in_a));
    wb::check_unchanged(widened(d_b.download()), widened(in_b));
    CHECK(d_c.intact());
}

inline void check_product(Multiply multiply, const Shape& shape) {
    check_product(multiply,
                  shape,
                  random_halves(size_t(shape.m) * shape.k, 100 + shape.m),
                  random_halves(size_t(shape.k) * shape.n, 200 + shape.n));
}

// Sizes of whole fragments. `make picture-30` draws one of the first.
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
// All sizes.
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
inline void check_shapes(Multiply multiply, const Shape (&shapes)[kCount],
                         Order order = Order::kRows) {
    for (Shape shape : shapes) {
        shape.order = order;
        check_product(multiply, shape);
    }
}

// C holds numbers before the call instead of the usual NaN, so that an addition to them shows.
inline void check_overwrites(Multiply multiply, int m, int n, int k) {
    const Floats a = random_halves(m * k, 11), b = random_halves(k * n, 12);
    const Floats held = wb::random_floats(m * n, 13, 100, 200);
    wb::GuardedBuffer<half> d_a(rounded(a), wb::guard(kGuard)), d_b(rounded(b), wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(held, wb::guard(kGuard));
    multiply(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n}, Order::kRows);
    CUDA_CHECK(cudaGetLastError());
    const Product want = product(a, b, m, n, k);
    const Floats got = d_c.download();
    CHECK_MATRIX(n, got, want.values, want.tolerance());
    recognize_mistakes(got, want, a, b, {m, n, k}, [&](const ProductMistakes& with) {
        return with.added_to(held);
    });
}

// Sums that a half cannot hold: too large, or with too many significant bits.
inline void check_long_sums(Multiply multiply, Order order) {
    for (const Shape& shape : {Shape{32, 16, 2048}, {16, 64, 512}}) {
        Shape here = shape;
        here.order = order;
        check_product(multiply,
                      here,
                      random_halves(size_t(here.m) * here.k, 21, 0.5f, 1),
                      random_halves(size_t(here.k) * here.n, 22, 0.5f, 1));
    }
}

inline void check_extremes(Multiply multiply, Order order) {
    Shape shape{48, 32, 80};
    shape.order = order;
    const size_t in_a = size_t(shape.m) * shape.k, in_b = size_t(shape.k) * shape.n;
    // Elements of A near the largest half, then elements of A near the smallest, which have fewer
    // bits.
    check_product(multiply,
                  shape,
                  random_halves(in_a, 23, kLargest - 2000, kLargest),
                  random_halves(in_b, 24, -kLargest, kLargest));
    check_product(
        multiply, shape, random_halves(in_a, 25, -0x1p-14f, 0x1p-14f), random_halves(in_b, 26));
}

inline void check_no_products(Multiply multiply, std::vector<std::pair<int, int>> sizes) {
    for (const auto& [m, n] : sizes) check_product(multiply, {m, n, 0, 0, 0, 4});
}

inline void check_empty(Multiply multiply) {
    const auto counters = wb::count([&] {
        multiply(nullptr, nullptr, nullptr, {0, 0, 0, 0, 0, 0}, Order::kRows);
        multiply(nullptr, nullptr, nullptr, {0, 16, 32, 32, 16, 16}, Order::kColumns);
        multiply(nullptr, nullptr, nullptr, {16, 0, 32, 32, 0, 0}, Order::kRows);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    check_product(multiply, {16, 16, 32});  // after the refused launch the device still works
}

// An infinite element makes one row or column of C infinite, and no other. A and B are positive, so
// that infinities never cancel. If k is not a multiple of the slab's depth, the infinity is in a
// slot that the last slab must set to 0: an old infinity times 0 would be NaN.
inline void check_infinity(Multiply multiply, int m, int n, int k) {
    for (const auto& [in_a, p] :
         {std::pair{true, 20}, {false, 20}, {true, k - 1}, {false, k - 1}}) {
        Floats a = random_halves(m * k, 41, 0.5f, 1), b = random_halves(k * n, 42, 0.5f, 1);
        (in_a ? a[3 * k + p] : b[p * n + 3]) = kInfinity;
        wb::GuardedBuffer<half> d_a(rounded(a), wb::guard(kGuard));
        wb::GuardedBuffer<half> d_b(rounded(b), wb::guard(kGuard));
        wb::GuardedBuffer<float> d_c(m * n, wb::guard(kGuard));
        multiply(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n}, Order::kRows);
        CUDA_CHECK(cudaGetLastError());
        const Product want = product(a, b, m, n, k);
        CHECK_MATRIX(n, d_c.download(), want.values, want.tolerance());
    }
}

// Rows that begin 2^31 elements or more after the first row, in all three matrices. A few elements
// of the gap after each row are checked.
inline void check_far_rows(Multiply multiply, int m, int n, int k, Sizes sizes) {
    const int gap = 3;
    const Floats a = random_halves(m * k, 31), b = random_halves(k * n, 32);
    const Floats before(size_t(m) * (n + gap), -7.0f);
    wb::SparseMatrix<half> d_a(m, k + gap, sizes.a_pitch, rounded(laid_out(a, m, k, k + gap, 0)));
    wb::SparseMatrix<half> d_b(k, n + gap, sizes.b_pitch, rounded(laid_out(b, k, n, n + gap, 0)));
    wb::SparseMatrix<float> d_c(m, n + gap, sizes.c_pitch, before);
    NEED_MEMORY(d_a && d_b && d_c);
    multiply(d_a.get(), d_b.get(), d_c.get(), sizes, Order::kRows);
    CUDA_CHECK(cudaGetLastError());
    const Product want = wb::with_gaps(product(a, b, m, n, k), m, n, gap, before[0]);
    CHECK_MATRIX(n + gap, d_c.download(), want.values, want.tolerance());
}

inline void check_refused(const char* name, Multiply multiply) {
    wb::DeviceBuffer<half> d_a(rounded(wb::random_floats(512, 8)));
    wb::DeviceBuffer<half> d_b(rounded(wb::random_floats(512, 9)));
    wb::DeviceBuffer<float> d_c(256);
    wb::check_refused_launch(name, [&] {
        multiply(d_a.get(), d_b.get(), d_c.get(), {16, 16, 32, 32, 16, 16}, Order::kRows);
    });
}

}  // namespace
