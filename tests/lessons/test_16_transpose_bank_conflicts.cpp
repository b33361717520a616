// SPDX-License-Identifier: MIT
// Lesson 16: every element arrives where it belongs, for every shape and pitch; gaps stay
// untouched.
//
// Tolerance: none, elements are only moved. The data are random, so that no two places look alike,
// and NaN in the gaps of the input: none of it may appear in the output.
#include "lesson_test.h"
#include "transpose_bank_conflicts.h"

#include <algorithm>
#include <climits>
#include <limits>

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU

using Transpose = void (*)(const float*, float*, int, int, int, int);

struct Shape {
    int rows, cols, in_gap, out_gap;
};

// `rows` rows of `cols` random numbers, and after each row `gap` NaNs.
std::vector<float> matrix(int rows, int cols, int gap, uint64_t seed) {
    std::vector<float> values = wb::random_floats(size_t(rows) * (cols + gap), seed);
    for (int row = 0; row < rows; ++row)
        for (int col = cols; col < cols + gap; ++col)
            values[size_t(row) * (cols + gap) + col] = std::numeric_limits<float>::quiet_NaN();
    return values;
}

// The elements of a matrix without its gaps, row after row.
std::vector<float> packed(const std::vector<float>& values, int rows, int cols, int pitch) {
    std::vector<float> out;
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col) out.push_back(values[size_t(row) * pitch + col]);
    return out;
}

// What a mistake makes of a matrix whose tiles are all full. `element` gives the row and the column
// of the input that end up at a row and a column of the output; a negative row: nothing does.
using Origin = std::function<std::pair<int, int>(int row, int col)>;
std::vector<float> moved(const std::vector<float>& in, int rows, int cols, int in_pitch,
                         const Origin& element) {
    std::vector<float> out(size_t(rows) * cols, std::numeric_limits<float>::quiet_NaN());
    for (int row = 0; row < cols; ++row)
        for (int col = 0; col < rows; ++col) {
            const auto [r, c] = element(row, col);
            if (r >= 0 && r < rows && c >= 0 && c < cols)
                out[size_t(row) * rows + col] = in[size_t(r) * in_pitch + c];
        }
    return out;
}

void recognize_moves(const std::vector<float>& got, const std::vector<float>& want,
                     const std::vector<float>& in, Shape shape) {
    const auto [rows, cols, in_gap, out_gap] = shape;
    const auto by = [&, rows = rows, cols = cols, pitch = cols + in_gap](const Origin& element) {
        return [&, rows, cols, pitch, element] { return moved(in, rows, cols, pitch, element); };
    };
    const auto tile_of = [](int i) { return i / kTile * kTile; };
    wb::recognize<float>(
        got,
        want,
        {{"each tile is turned, but stored where it was: the blocks must change places, too",
          by([=](int row, int col) {
              return std::pair(tile_of(row) + col % kTile, tile_of(col) + row % kTile);
          })},
         {"the tiles have changed places, but the elements inside of them have not",
          by([=](int row, int col) {
              return std::pair(tile_of(col) + row % kTile, tile_of(row) + col % kTile);
          })},
         {"the store asks for the rows and columns of the input: in the output they have changed "
          "roles",
          by([=, rows = rows, cols = cols](int row, int col) {
              return row < rows && col < cols ? std::pair(col, row) : std::pair(-1, -1);
          })},
         {"rows and columns have changed places in the grid: x counts columns of the input",
          by([=, rows = rows, cols = cols](int row, int col) {
              const int last = (rows + kTile - 1) / kTile * kTile;
              const int most = (cols + kTile - 1) / kTile * kTile;
              return row < last && col < most ? std::pair(col, row) : std::pair(-1, -1);
          })},
         {"nothing is transposed: a copy",
          by([](int row, int col) { return std::pair(row, col); })}});
}

void check_transpose(Transpose transpose_it, Shape shape) {
    const auto [rows, cols, in_gap, out_gap] = shape;
    CAPTURE(rows, cols, in_gap, out_gap);
    const int in_pitch = cols + in_gap, out_pitch = rows + out_gap;
    const auto in = matrix(rows, cols, in_gap, 100 + rows);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_out(size_t(cols) * out_pitch, wb::guard(kGuard));
    transpose_it(d_in.get(), d_out.get(), rows, cols, in_pitch, out_pitch);
    CUDA_CHECK(cudaGetLastError());
    const auto out = d_out.download();
    std::vector<float> want(size_t(rows) * cols);
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            want[size_t(col) * rows + row] = in[size_t(row) * in_pitch + col];
    const auto got = packed(out, cols, rows, out_pitch);
    CHECK_MATRIX(rows, got, want);
    // Slots of a tile that is not full hold anything: what is stored of them tells nothing.
    const bool tells = rows % kTile == 0 && cols % kTile == 0;
    bool only_gaps = true;
    for (size_t i = 0; i < want.size(); ++i) only_gaps &= got[i] == want[i] || std::isnan(got[i]);
    if (tells || only_gaps) recognize_moves(got, want, in, shape);
    size_t spoilt = 0;  // elements of the gaps that no longer hold their filling
    for (int row = 0; row < cols; ++row)
        for (int col = rows; col < out_pitch; ++col)
            spoilt += !std::isnan(out[size_t(row) * out_pitch + col]);
    CHECK(spoilt == 0);
    CHECK(d_out.intact());
}

void check_twice(Transpose transpose_it) {
    const int rows = 129, cols = 65;
    const auto in = wb::random_floats(rows * cols, 7);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_turned(in.size(), wb::guard(kGuard));
    wb::GuardedBuffer<float> d_out(in.size(), wb::guard(kGuard));
    transpose_it(d_in.get(), d_turned.get(), rows, cols, cols, rows);
    transpose_it(d_turned.get(), d_out.get(), cols, rows, rows, cols);
    CUDA_CHECK(cudaGetLastError());
    CHECK_MATRIX(cols, d_out.download(), in);
}

constexpr Shape kSquare[] = {{1, 1, 0, 0},
                             {31, 31, 0, 0},
                             {32, 32, 0, 0},
                             {33, 33, 0, 0},
                             {64, 64, 0, 0},
                             {100, 100, 0, 0},
                             {256, 256, 0, 0}};
constexpr Shape kOblong[] = {{1, 5000, 0, 0},
                             {5000, 1, 0, 0},
                             {32, 64, 0, 0},
                             {64, 32, 0, 0},
                             {7, 300, 0, 0},
                             {300, 7, 0, 0},
                             {33, 95, 0, 0},
                             {95, 33, 0, 0},
                             {129, 97, 0, 0},
                             {96, 1000, 0, 0},
                             {1000, 96, 0, 0}};
constexpr Shape kPitched[] = {{50, 50, 14, 0},
                              {50, 50, 0, 14},
                              {33, 65, 31, 95},
                              {65, 33, 1, 2},
                              {64, 64, 1, 64},
                              {5, 200, 56, 3},
                              {200, 5, 3, 56}};

// Square for counting, all tiles full; and every row begins at a multiple of 32 bytes.
constexpr int kSide = 512;
constexpr uint64_t kElements = uint64_t(kSide) * kSide;

std::optional<EmulatorCounters> counted_transpose(int rows, int cols) {
    wb::DeviceBuffer<float> d_in(wb::random_floats(size_t(rows) * cols, 9));
    wb::DeviceBuffer<float> d_out(size_t(rows) * cols);
    return wb::count([&] { transpose(d_in.get(), d_out.get(), rows, cols, cols, rows); });
}

}  // namespace

TEST_CASE("task 1: transposes square matrices", "[task1]") {
    for (const Shape& shape : kSquare) check_transpose(transpose_naive, shape);
}

TEST_CASE("task 1: transposes wide and tall matrices", "[task1]") {
    for (const Shape& shape : kOblong) check_transpose(transpose_naive, shape);
}

TEST_CASE("task 1: leaves the gaps between rows alone", "[task1]") {
    for (const Shape& shape : kPitched) check_transpose(transpose_naive, shape);
}

TEST_CASE("task 2: counts the passes of tiles with simple widths", "[task2]") {
    CHECK(column_passes(32) == 32);
    CHECK(column_passes(1) == 1);
    CHECK(column_passes(16) == 16);
    CHECK(column_passes(33) == 1);
    CHECK(column_passes(64) == 32);
}

TEST_CASE("task 2: counts the passes of any width", "[task2]") {
    std::vector<int> got{0}, want{0};  // entry `width` is about that width
    for (int width = 1; width <= 4096; ++width) {
        int lowest_bit = width & -width;  // all lanes fall on multiples of it
        got.push_back(column_passes(width));
        want.push_back(std::min(lowest_bit, 32));
    }
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "width");
    // 31 rows of these do not fit into an int.
    CHECK(column_passes(INT_MAX) == 1);
    CHECK(column_passes(INT_MAX - 1) == 2);
    CHECK(column_passes(INT_MAX - 31) == 32);
}

TEST_CASE("task 3: transposes square matrices", "[task3]") {
    for (const Shape& shape : kSquare) check_transpose(transpose, shape);
}

TEST_CASE("task 3: transposes wide and tall matrices", "[task3]") {
    for (const Shape& shape : kOblong) check_transpose(transpose, shape);
}

TEST_CASE("task 3: leaves the gaps between rows alone", "[task3]") {
    for (const Shape& shape : kPitched) check_transpose(transpose, shape);
}

TEST_CASE("task 3: gives back the input when done twice", "[task3]") {
    check_twice(transpose);
}

TEST_CASE("efficient: moves each element once", "[efficient]") {
    const auto counted = counted_transpose(kSide, kSide);
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == 4 * kElements);
    CHECK(counted->global_store_bytes == 4 * kElements);
    CHECK(counted->device_to_host_bytes + counted->device_to_device_bytes == 0);
}

TEST_CASE("efficient: neighbouring threads load neighbouring addresses", "[efficient]") {
    const auto counted = counted_transpose(kSide, kSide);
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_sectors >= kElements / 8);
    CHECK(counted->global_load_sectors <= kElements / 8);
}

TEST_CASE("efficient: neighbouring threads store to neighbouring addresses", "[efficient]") {
    const auto counted = counted_transpose(kSide, kSide);
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_sectors >= kElements / 8);
    CHECK(counted->global_store_sectors <= kElements / 8);
}

TEST_CASE("efficient: no two lanes meet in a bank", "[efficient]") {
    for (const auto& [rows, cols] : {std::pair{kSide, kSide}, {97, 331}}) {
        CAPTURE(rows, cols);
        const auto counted = counted_transpose(rows, cols);
        NEED_COUNTERS(counted);
        CHECK(counted->global_store_bytes == uint64_t(4) * rows * cols);
        CHECK(counted->shared_load_conflicts == 0);
        CHECK(counted->shared_store_conflicts == 0);
    }
}

TEST_CASE("efficient: one barrier for each tile", "[efficient]") {
    const auto counted = counted_transpose(kSide, kSide);
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 4 * kElements);
    CHECK(counted->block_barriers <= kElements / (kTile * kTile));
    CHECK(counted->warp_instructions <= 4 * kElements);  // serial code needs more
}
