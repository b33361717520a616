// SPDX-License-Identifier: MIT
// Lesson 04, roots of sums of squares, with three matrices that have their own pitches.
//
// Tolerance: 4 units in the last place: two roundings before the root and one in it make at most 2,
// and CUDA's own hypotf is documented with 3.
#include "reference.h"
#include "watches/call_checks.h"

namespace {

// Compares with the roots of random values, or of those in `special`, for a and b alternately.
void check_hypot(Shape shape, size_t more_a, size_t more_b, size_t more_out,
                 const std::vector<float>& special = {}) {
    CAPTURE(shape.height, shape.width);
    const size_t pitch_a = shape.width + more_a, pitch_b = shape.width + more_b,
                 pitch_out = shape.width + more_out;
    auto a = matrix(shape, pitch_a, 1), b = matrix(shape, pitch_b, 2);
    const auto before = matrix(shape, pitch_out, 3);
    for (size_t i = 0; i < a.size() && !special.empty(); ++i) {
        a[i] = special[i % special.size()];
        b[i] = special[i / special.size() % special.size()];
    }
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_out(before, wb::guard(kGuard));
    hypot_2d(
        d_a.get(), pitch_a, d_b.get(), pitch_b, d_out.get(), pitch_out, shape.height, shape.width);
    CUDA_CHECK(cudaGetLastError());
    const auto x = parts(a, shape, pitch_a).elements, y = parts(b, shape, pitch_b).elements;
    std::vector<float> want(x.size());
    for (size_t i = 0; i < x.size(); ++i) want[i] = float(std::hypot(double(x[i]), double(y[i])));
    const Parts got = download_parts(d_out, shape, pitch_out);
    const auto tolerance = [&](size_t i) { return 4 * 0x1p-23 * want[i]; };
    const auto each = [&](auto f) {
        return [&, f] {
            std::vector<float> values(x.size());
            for (size_t i = 0; i < x.size(); ++i) values[i] = f(x[i], y[i]);
            return values;
        };
    };
    // The elements of `out` where the three matrices are indexed with these pitches.
    const auto with = [&](size_t of_a, size_t of_b, size_t of_out) {
        return [&, of_a, of_b, of_out] {
            auto all = before;
            for (size_t i = 0; i < want.size(); ++i) {
                const size_t row = i / shape.width, column = i % shape.width;
                const auto at = [&](const std::vector<float>& m, size_t pitch) {
                    const size_t index = row * pitch + column;
                    return index < m.size() ? m[index] : std::nanf("");
                };
                const size_t to = row * of_out + column;
                if (to < all.size()) all[to] = std::hypot(at(a, of_a), at(b, of_b));
            }
            return parts(all, shape, pitch_out).elements;
        };
    };
    wb::recognize<float>(
        got.elements,
        want,
        {{"b is indexed with the pitch of a", with(pitch_a, pitch_a, pitch_out)},
         {"a is indexed with the pitch of b", with(pitch_b, pitch_b, pitch_out)},
         {"out is indexed with the pitch of a", with(pitch_a, pitch_b, pitch_a)},
         {"out is indexed with the pitch of b", with(pitch_a, pitch_b, pitch_b)},
         {"all three are indexed with the pitch of a", with(pitch_a, pitch_a, pitch_a)},
         {"all three are indexed with the pitch of out", with(pitch_out, pitch_out, pitch_out)},
         {"the squares are subtracted, not added",
          each([](float a, float b) { return std::sqrt(a * a - b * b); })},
         {"the root of a + b, without squares",
          each([](float a, float b) { return std::sqrt(a + b); })},
         {"the sum of the absolute values: where are squares and root?",
          each([](float a, float b) { return std::fabs(a) + std::fabs(b); })},
         {"the second product is a * b, not b * b",
          each([](float a, float b) { return std::sqrt(a * a + a * b); })},
         {"the fractions of a and b are lost: they pass through an int",
          each([](float a, float b) { return std::hypot(std::trunc(a), std::trunc(b)); })}},
        tolerance);
    CHECK_MATRIX(shape.width, got.elements, want, tolerance);
    CHECK_ARRAYS(
        got.padding,
        parts(before, shape, pitch_out).padding,
        [](size_t) { return 0.0; },
        "padding element");
    CHECK(d_out.intact());
}

}  // namespace

TEST_CASE("task 4: computes roots for a matrix of any shape", "[task4]") {
    for (const Shape shape : kShapes) check_hypot(shape, 0, 0, 0);
    check_hypot({65535, 3}, 0, 0, 0);
    check_hypot({3, 65535}, 0, 0, 0);
}

TEST_CASE("task 4: gives each matrix its own pitch", "[task4]") {
    for (const Shape shape : kShapes) {
        check_hypot(shape, 13, 0, 5);
        check_hypot(shape, 0, 7, 0);
        check_hypot(shape, 1, 2, 31);
    }
}

TEST_CASE("task 4: computes roots for rows that begin 2^31 floats after the first and later",
          "[task4]") {
    const auto a = rows_of_tall(21), b = rows_of_tall(22), before = rows_of_tall(23);
    // Pitches of their own: the largest, and two with which rows begin 2^31 floats later as well.
    const size_t pitch_a = kFarPitch - 1, pitch_b = kFarPitch, pitch_out = kFarPitch - 2;
    wb::SparseMatrix<float> d_a(kTall.height, kWithPadding, pitch_a, a);
    wb::SparseMatrix<float> d_b(kTall.height, kWithPadding, pitch_b, b);
    wb::SparseMatrix<float> d_out(kTall.height, kWithPadding, pitch_out, before);
    NEED_MEMORY(d_a && d_b && d_out);
    hypot_2d(
        d_a.get(), pitch_a, d_b.get(), pitch_b, d_out.get(), pitch_out, kTall.height, kTall.width);
    CUDA_CHECK(cudaGetLastError());
    auto want = before;
    for (size_t i = 0; i < want.size(); ++i)
        if (i % kWithPadding < size_t(kTall.width))
            want[i] = float(std::hypot(double(a[i]), double(b[i])));
    const auto tolerance = [&](size_t i) {
        return i % kWithPadding < size_t(kTall.width) ? 4 * 0x1p-23 * want[i] : 0.0;
    };
    CHECK_MATRIX(kWithPadding, d_out.download(), want, tolerance);
}

TEST_CASE("task 4: is exact at the origin, on the axes, and for small and large values",
          "[task4]") {
    const std::vector<float> special{0.0f, 1.0f, -3.0f, 1e-18f, -1e-18f, 1e18f, -1e18f, 0.5f};
    check_hypot({8, 8}, 0, 0, 0, special);
}

TEST_CASE("task 4: launches nothing for an empty matrix", "[task4]") {
    const auto counted = wb::count([] {
        check_hypot({0, 10}, 0, 0, 0);
        check_hypot({10, 0}, 3, 3, 3);
    });
    if (counted) {
        INFO("for an empty matrix: launched kernels: " << counted->launches << ", want none");
        CHECK(counted->launches == 0);
    }
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    const Shape shape{8, 32};
    wb::DeviceBuffer<float> d_a(matrix(shape, 32, 8)), d_out(matrix(shape, 32, 9));
    wb::check_refused_launch(
        "hypot_2d", [&] { hypot_2d(d_a.get(), 32, d_a.get(), 32, d_out.get(), 32, 8, 32); });
}
