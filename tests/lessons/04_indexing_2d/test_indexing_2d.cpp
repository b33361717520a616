// SPDX-License-Identifier: MIT
// Lesson 04: every element is found in its row, the padding between the rows stays as it was, and a
// warp walks along a row.
//
// Tolerance: none for the increment, one correctly rounded addition. For the root of a sum of two
// squares 4 units in the last place: two roundings before the root and one in it make at most 2,
// and CUDA's own hypotf is documented with 3.
#include "call_checks.h"
#include "indexing_2d.h"
#include "lesson_test.h"
#include "shared_work.h"
#include "sparse.h"

#include <cmath>

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU

struct Shape {
    int height, width;
};
const std::vector<Shape> kShapes{
    {17, 33}, {1, 1}, {1, 1000}, {1000, 1}, {32, 32}, {31, 257}, {8, 32}};

// Rows and padding of a matrix, each in one piece.
struct Parts {
    std::vector<float> elements, padding;
};
Parts parts(const std::vector<float>& all, Shape shape, size_t pitch) {
    Parts result;
    result.elements.reserve(all.size());
    for (size_t i = 0; i < all.size(); ++i)
        (i % pitch < size_t(shape.width) ? result.elements : result.padding).push_back(all[i]);
    return result;
}

// The parts of a matrix on the device; a message about an element then says who wrote it.
Parts download_parts(const wb::GuardedBuffer<float>& d_data, Shape shape, size_t pitch) {
    Parts result = parts(d_data.download(), shape, pitch);
    const size_t width = shape.width, padding = pitch - width;
    wb::note_download({result.elements.data(), d_data.get(), result.elements.size(), width, pitch});
    if (padding)
        wb::note_download(
            {result.padding.data(), d_data.get() + width, result.padding.size(), padding, pitch});
    return result;
}

std::vector<float> matrix(Shape shape, size_t pitch, uint64_t seed) {
    return wb::random_floats(size_t(shape.height) * pitch, seed, -50.0f, 50.0f);
}

// Runs increment(d_data) on a random matrix and compares elements and padding.
template <class Increment>
void check_increment(Shape shape, size_t pitch, Increment increment) {
    CAPTURE(shape.height, shape.width, pitch);
    const auto before = matrix(shape, pitch, 100 + pitch);
    wb::GuardedBuffer<float> d_data(before, wb::guard(kGuard));
    increment(d_data.get());
    CUDA_CHECK(cudaGetLastError());
    Parts want = parts(before, shape, pitch);
    for (float& value : want.elements) value += 1.0f;
    const Parts got = download_parts(d_data, shape, pitch);
    auto packed = before;
    for (size_t i = 0; i < size_t(shape.height) * shape.width; ++i) packed[i] += 1.0f;
    const Parts without_pitch = parts(packed, shape, pitch);
    const char* const no_pitch = "the rows are taken to be `width` floats apart, not `pitch`";
    wb::recognize<float>(
        got.elements, want.elements, {{no_pitch, [&] { return without_pitch.elements; }}});
    CHECK_MATRIX(shape.width, got.elements, want.elements);
    auto incremented = want.padding;
    for (float& value : incremented) value += 1.0f;
    wb::recognize<float>(
        got.padding,
        want.padding,
        {{"the padding after the rows is incremented too, and it is not part of the matrix",
          [&] { return incremented; }},
         {no_pitch, [&] { return without_pitch.padding; }}});
    CHECK_ARRAYS(
        got.padding, want.padding, [](size_t) { return 0.0; }, "padding element");
    CHECK(d_data.intact());
}

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

// Says which mistake gives what element_offset returns, where it is wrong.
void check_offset(int row, int column, size_t pitch) {
    const size_t got = element_offset(row, column, pitch);
    const size_t r = row, c = column, want = r * pitch + c;
    const auto low = [](size_t value) { return size_t(int(unsigned(value))); };
    const std::pair<size_t, const char*> mistakes[] = {
        {c * pitch + r, ", as if row and column were swapped"},
        {(r + c) * pitch, ", as if the pitch multiplied the column too"},
        {r * pitch, ", the start of the row: the column is missing"},
        {r * pitch + c + 1, ", 1 too many: rows and columns are counted from 0"},
        {(r + 1) * pitch + c, ", one row too many: rows are counted from 0"},
        {want * sizeof(float), ", which is in bytes: floats are asked for"},
        {r * pitch * sizeof(float) + c, ", with the pitch in bytes: it is given in floats"},
        {r * pitch / sizeof(float) + c, ", as if the pitch were given in bytes: it is in floats"},
        {low(want), ", which comes from 32 bits: an int cannot hold numbers this large"}};
    std::string known;
    for (const auto& [value, words] : mistakes)
        if (got != want && got != 0 && got == value)
            known += (known.empty() ? "" : "; or") + std::string(words);
    INFO("element_offset(" << row << ", " << column << ", " << pitch << "): got " << got << known
                           << ", want " << want);
    const bool right_offset = got == want;
    CHECK(right_offset);
}

dim3 enough(Shape shape, dim3 threads) {
    return dim3((shape.width + threads.x - 1) / threads.x,
                (shape.height + threads.y - 1) / threads.y);
}

// Matrices of 2^31 floats and more, of which only the first columns and a little padding are
// touched. The last rows begin at 2^31 and above.
constexpr size_t kFarPitch = 1 << 20;
constexpr Shape kTall{2060, 3};
constexpr size_t kWithPadding = 5;

std::vector<float> rows_of_tall(uint64_t seed) {
    return wb::random_floats(kTall.height * kWithPadding, seed, -50.0f, 50.0f);
}

// Runs increment(d_data) on such a matrix.
template <class Increment>
void check_far_rows(Increment increment) {
    const auto before = rows_of_tall(20);
    wb::SparseMatrix<float> d_data(kTall.height, kWithPadding, kFarPitch, before);
    NEED_MEMORY(d_data);
    increment(d_data.get());
    CUDA_CHECK(cudaGetLastError());
    auto want = before;
    for (size_t i = 0; i < want.size(); ++i)
        if (i % kWithPadding < size_t(kTall.width)) want[i] += 1.0f;
    CHECK_MATRIX(kWithPadding, d_data.download(), want);
}

// The shape for the efficiency tests: whole warps along the rows, rows that start on a sector.
constexpr Shape kWide{500, 1024};
constexpr size_t kPitch = 1056;

}  // namespace

TEST_CASE("task 1: counts the floats before an element", "[task1]") {
    check_offset(0, 0, 5);
    check_offset(0, 4, 5);
    check_offset(1, 0, 5);
    check_offset(2, 3, 8);
    check_offset(16, 32, 46);
}

TEST_CASE("task 1: stays exact in matrices of more than 2^31 elements", "[task1]") {
    check_offset(50000, 7, 50000);
    check_offset(65535, 65535, 1 << 20);
}

TEST_CASE("task 2: increments a matrix that the grid fits", "[task2]") {
    const Shape shape{32, 64};
    check_increment(shape, 64, [&](float* d_data) {
        increment_on_grid(d_data, shape.height, shape.width, 64, dim3(4, 2), dim3(16, 16));
    });
}

TEST_CASE("task 2: increments when the grid is larger on one axis or on both", "[task2]") {
    const auto threads =
        GENERATE(dim3(32, 8), dim3(16, 16), dim3(32, 32), dim3(128, 1), dim3(1, 64));
    for (const Shape shape : kShapes) {
        CAPTURE(threads.x, threads.y);
        dim3 blocks = enough(shape, threads);
        blocks.x += 1;
        blocks.y += 2;
        check_increment(shape, shape.width, [&](float* d_data) {
            increment_on_grid(d_data, shape.height, shape.width, shape.width, blocks, threads);
        });
    }
}

TEST_CASE("task 2: leaves the padding after the rows alone", "[task2]") {
    for (const Shape shape : kShapes) {
        const size_t pitch = shape.width + 13;
        check_increment(shape, pitch, [&](float* d_data) {
            const dim3 threads(32, 8);
            increment_on_grid(
                d_data, shape.height, shape.width, pitch, enough(shape, threads), threads);
        });
    }
}

TEST_CASE("task 2: increments rows that begin 2^31 floats after the first and later", "[task2]") {
    check_far_rows([](float* d_data) {
        const dim3 threads(8, 64);
        increment_on_grid(
            d_data, kTall.height, kTall.width, kFarPitch, enough(kTall, threads), threads);
    });
}

TEST_CASE("task 3: increments a matrix of any shape", "[task3]") {
    for (const Shape shape : kShapes)
        for (const size_t more : {0, 13})
            check_increment(shape, shape.width + more, [&](float* d_data) {
                increment_2d(d_data, shape.height, shape.width, shape.width + more);
            });
}

TEST_CASE("task 3: increments 2000 rows of 3000 columns", "[task3]") {
    check_increment(
        {2000, 3000}, 3000, [](float* d_data) { increment_2d(d_data, 2000, 3000, 3000); });
}

TEST_CASE("task 3: increments a very tall and a very wide matrix", "[task3]") {
    check_increment({65535, 3}, 4, [](float* d_data) { increment_2d(d_data, 65535, 3, 4); });
    check_increment(
        {3, 65535}, 65536, [](float* d_data) { increment_2d(d_data, 3, 65535, 65536); });
}

TEST_CASE("task 3: launches nothing for an empty matrix", "[task3]") {
    wb::DeviceBuffer<float> d_data(100);
    const auto counted = wb::count([&] {
        increment_2d(d_data.get(), 0, 10, 10);
        increment_2d(d_data.get(), 10, 0, 10);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counted) {
        INFO("for an empty matrix: launched kernels: " << counted->launches << ", want none");
        CHECK(counted->launches == 0);
    }
}

TEST_CASE("task 4: computes roots for a matrix of any shape", "[task4]") {
    for (const Shape shape : kShapes) check_hypot(shape, 0, 0, 0);
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

TEST_CASE("efficient: a warp increments neighbours in a row", "[efficient][task1][task2][task3]") {
    wb::DeviceBuffer<float> d_data(matrix(kWide, kPitch, 4));
    const auto counted =
        wb::count([&] { increment_2d(d_data.get(), kWide.height, kWide.width, kPitch); });
    NEED_COUNTERS(counted);
    const uint64_t bytes = sizeof(float) * kWide.height * kWide.width;
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == bytes);
    CHECK(counted->global_store_bytes == bytes);
    CHECK(counted->global_load_sectors == bytes / 32);
    CHECK(counted->global_store_sectors == bytes / 32);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: the root takes one launch, and a warp walks along a row",
          "[efficient][task1][task3][task4]") {
    wb::DeviceBuffer<float> d_a(matrix(kWide, kPitch, 5)), d_b(matrix(kWide, kWide.width, 6));
    wb::DeviceBuffer<float> d_out(size_t(kWide.height) * kPitch);
    const auto counted = wb::count([&] {
        hypot_2d(d_a.get(),
                 kPitch,
                 d_b.get(),
                 kWide.width,
                 d_out.get(),
                 kPitch,
                 kWide.height,
                 kWide.width);
    });
    NEED_COUNTERS(counted);
    const uint64_t bytes = sizeof(float) * kWide.height * kWide.width;
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == 2 * bytes);
    CHECK(counted->global_store_bytes == bytes);
    CHECK(counted->global_load_sectors == 2 * bytes / 32);
    CHECK(counted->global_store_sectors == bytes / 32);
    CHECK(counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient]") {
    const Shape shape{128, 1024};
    const size_t elements = 128 * 1024;
    wb::DeviceBuffer<float> d_a(matrix(shape, 1024, 9)), d_b(matrix(shape, 1024, 10));
    wb::DeviceBuffer<float> d_out(elements);
    increment_2d(d_a.get(), shape.height, shape.width, 1024);
    wb::check_shared_work("increment_2d", d_a.get(), elements);
    hypot_2d(d_a.get(), 1024, d_b.get(), 1024, d_out.get(), 1024, shape.height, shape.width);
    wb::check_shared_work("hypot_2d", d_out.get(), elements);
}

TEST_CASE("efficient: few threads have no element", "[efficient][task1][task2][task3]") {
    const Shape shape{2000, 3000};
    wb::DeviceBuffer<float> d_data(matrix(shape, shape.width, 7));
    const auto counted =
        wb::count([&] { increment_2d(d_data.get(), shape.height, shape.width, shape.width); });
    NEED_COUNTERS(counted);
    const uint64_t elements = uint64_t(shape.height) * shape.width;
    CHECK(counted->global_store_bytes == sizeof(float) * elements);
    CHECK(counted->threads <= elements + elements * 3 / 100);
    CHECK(counted->threads >= 2048);                    // one block is not enough
    CHECK(counted->warp_instructions <= 2 * elements);  // serial code needs 6 or more each
}

TEST_CASE("efficient: blocks that fit exactly leave no thread over",
          "[efficient][task1][task2][task3]") {
    const Shape shape{512, 1024};
    wb::DeviceBuffer<float> d_data(matrix(shape, shape.width, 8));
    const auto counted =
        wb::count([&] { increment_2d(d_data.get(), shape.height, shape.width, shape.width); });
    NEED_COUNTERS(counted);
    const uint64_t elements = uint64_t(shape.height) * shape.width;
    CHECK(counted->global_store_bytes == sizeof(float) * elements);
    CHECK(counted->threads <= elements + elements / 50);
}
