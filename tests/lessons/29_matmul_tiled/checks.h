// SPDX-License-Identifier: MIT
// Shared by the tests of lesson 29: C = A B for every shape and pitch, overwriting C.
//
// Tolerance: each sum of k products may differ by k 2^-24 times the sum of their magnitudes, the
// largest error of k rounded products and additions in any order. The data are random, with NaN in
// the gaps between rows; outputs start as NaN.
#pragma once

#include "cases/sparse.h"
#include "reference.h"
#include "watches/call_checks.h"

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kMost = 65536;

using Matmul = void (*)(const float*, const float*, float*, Sizes);

inline void check_product(Matmul matmul, const Shape& shape) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    const Sizes sizes = shape.sizes();
    const auto [a_pitch, b_pitch, c_pitch] =
        std::tuple(sizes.a_pitch, sizes.b_pitch, sizes.c_pitch);
    CAPTURE(m, n, k, a_pitch, b_pitch, c_pitch);
    const int before = shape.before;
    const Floats a = wb::random_floats(size_t(m) * k, 100 + m);
    const Floats b = wb::random_floats(size_t(k) * n, 200 + n);
    const Floats in_a = laid_out(a, m, k, sizes.a_pitch, before);
    const Floats in_b = laid_out(b, k, n, sizes.b_pitch, before);
    wb::GuardedBuffer<float> d_a(in_a, wb::guard(kGuard)), d_b(in_b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(before + size_t(m) * sizes.c_pitch, wb::guard(kGuard));
    matmul(d_a.get() + before, d_b.get() + before, d_c.get() + before, sizes);
    CUDA_CHECK(cudaGetLastError());
    const Floats c = d_c.download();
    const Floats got = packed(c, m, n, sizes.c_pitch, before);
    const Product want = product(a, b, m, n, k);
    CHECK_MATRIX(n, got, want.values, want.tolerance());
    const auto run_on = [&](const Floats& all, size_t elements) {  // as if there were no gaps
        return Floats(all.begin() + before, all.begin() + before + elements);
    };
    recognize_mistakes(got, want, a, b, shape, [&](const ProductMistakes& with) -> Mistakes {
        const auto where = ProductMistakes::where;
        return {
            {"rows of A and B are read as if they had no gaps: their pitches say where they begin",
             where(shape.a_gap && shape.b_gap,
                   [&] { return with.of(run_on(in_a, a.size()), run_on(in_b, b.size())); })},
            {"rows of A are read as if they had no gaps: a_pitch says where they begin",
             where(shape.a_gap, [&] { return with.of(run_on(in_a, a.size()), b); })},
            {"rows of B are read as if they had no gaps: b_pitch says where they begin",
             where(shape.b_gap, [&] { return with.of(a, run_on(in_b, b.size())); })}};
    });
    wb::check_gaps_unchanged(c, n, c_pitch, before);
    wb::check_unchanged(d_a.download(), in_a);
    wb::check_unchanged(d_b.download(), in_b);
    CHECK(d_c.intact());
}

// `make picture-29` draws one of these: all have full tiles.
constexpr Shape kSquare[] = {
    {32, 32, 32}, {64, 64, 64}, {33, 33, 33}, {65, 65, 65}, {96, 96, 96}, {129, 129, 129}};
constexpr Shape kOblong[] = {{1, 1, 1},
                             {1, 1, 1000},
                             {17, 17, 17},
                             {1, 1000, 1},
                             {1000, 1, 1},
                             {1, 33, 1000},
                             {1000, 17, 33},
                             {17, 1000, 32},
                             {33, 65, 129},
                             {129, 32, 17},
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
                            {64, 64, 64, 4, 4, 4, 1},
                            {128, 128, 64, 1, 2, 3},
                            {128, 128, 64, 0, 0, 0, 2},
                            {7, 200, 33, 3, 56, 5, 3}};

inline void check_shapes(Matmul matmul, const Shape* begin, const Shape* end) {
    for (const Shape* shape = begin; shape != end; ++shape) check_product(matmul, *shape);
}

// C holds numbers before the call instead of the usual NaN, so that an addition to them shows.
inline void check_overwrites(Matmul matmul) {
    const int m = 70, n = 40, k = 50;
    const Floats a = wb::random_floats(m * k, 11), b = wb::random_floats(k * n, 12);
    const Floats held = wb::random_floats(m * n, 13, 100, 200);
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(held, wb::guard(kGuard));
    matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n});
    CUDA_CHECK(cudaGetLastError());
    const Product want = product(a, b, m, n, k);
    const Floats got = d_c.download();
    CHECK_MATRIX(n, got, want.values, want.tolerance());
    recognize_mistakes(got, want, a, b, {m, n, k}, [&](const ProductMistakes& with) {
        return with.added_to(held);
    });
}

inline void check_no_products(Matmul matmul) {
    for (const auto& [m, n] : {std::pair{1, 1}, {33, 70}, {64, 64}})
        check_product(matmul, {m, n, 0, 0, 0, 3});
}

inline void check_empty(Matmul matmul) {
    const auto counters = wb::count([&] {
        matmul(nullptr, nullptr, nullptr, {0, 0, 0, 0, 0, 0});
        matmul(nullptr, nullptr, nullptr, {0, 5, 7, 7, 5, 5});
        matmul(nullptr, nullptr, nullptr, {5, 0, 7, 7, 0, 0});
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    check_product(matmul, {2, 3, 4});  // after the refused launch the device still works
}

// Rows that begin 2^31 floats or more after the first row, in all three matrices. A few floats of
// the gap after each row are checked.
inline void check_far_rows(Matmul matmul) {
    const int m = 4, n = 40, k = 35, gap = 3;
    const Sizes sizes{m, n, k, 1 << 30, (1 << 26) + 1, (1 << 30) + 5};
    const Floats a = wb::random_floats(m * k, 31), b = wb::random_floats(k * n, 32);
    const Floats before(size_t(m) * (n + gap), -7.0f);
    wb::SparseMatrix<float> d_a(m, k + gap, sizes.a_pitch, laid_out(a, m, k, k + gap, 0));
    wb::SparseMatrix<float> d_b(k, n + gap, sizes.b_pitch, laid_out(b, k, n, n + gap, 0));
    wb::SparseMatrix<float> d_c(m, n + gap, sizes.c_pitch, before);
    NEED_MEMORY(d_a && d_b && d_c);
    matmul(d_a.get(), d_b.get(), d_c.get(), sizes);
    CUDA_CHECK(cudaGetLastError());
    const Product want = wb::with_gaps(product(a, b, m, n, k), m, n, gap, before[0]);
    CHECK_MATRIX(n + gap, d_c.download(), want.values, want.tolerance());
}

// An infinite element makes one row or column of C infinite, and no other. A and B are positive, so
// that infinities never cancel. The filling of a tile after its last element must not be multiplied
// by the infinity: 0 times infinity is NaN.
inline void check_infinity_at(Matmul matmul, bool in_a, int p) {
    const int m = 40, n = 37, k = 45;
    Floats a = wb::random_floats(m * k, 41, 0.5f, 1), b = wb::random_floats(k * n, 42, 0.5f, 1);
    (in_a ? a[3 * k + p] : b[p * n + 3]) = kInfinity;
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(m * n, wb::guard(kGuard));
    matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n});
    CUDA_CHECK(cudaGetLastError());
    const Product want = product(a, b, m, n, k);
    CHECK_MATRIX(n, d_c.download(), want.values, want.tolerance());
}
inline void check_infinity(Matmul matmul) {
    for (const bool in_a : {true, false})
        for (const int p : {30, 44}) check_infinity_at(matmul, in_a, p);
}

inline void check_refused(const char* name, Matmul matmul) {
    wb::DeviceBuffer<float> d_a(wb::random_floats(50, 8)), d_b(wb::random_floats(50, 9)), d_c(25);
    wb::check_refused_launch(name, [&] {
        matmul(d_a.get(), d_b.get(), d_c.get(), {5, 5, 10, 10, 5, 5});
    });
}

}  // namespace
