// SPDX-License-Identifier: MIT
// Lesson 04, where an element is, and increments of all elements but the padding between the rows.
//
// Tolerance: none, one correctly rounded addition.
#include "reference.h"

namespace {

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
