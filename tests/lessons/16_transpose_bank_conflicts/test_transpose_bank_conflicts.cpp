// SPDX-License-Identifier: MIT
// Lesson 16: every element arrives where it belongs, for every shape and pitch; the gaps do not
// change.
//
// Tolerance: none, elements are only moved. The data are random, so that no two places look alike,
// and NaN in the gaps of the input: none of it may appear in the output.
#include "cases/shared_work.h"
#include "cases/sparse.h"
#include "lesson_test.h"
#include "transpose_bank_conflicts.h"
#include "watches/call_checks.h"

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

// The output of a wrong transpose whose tiles are all full. `element` gives the row and the column
// of the input that end up at a row and a column of the output; a negative row means none.
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
        {{"each tile is transposed, but stored where it was: the tiles must be swapped as well",
          by([=](int row, int col) {
              return std::pair(tile_of(row) + col % kTile, tile_of(col) + row % kTile);
          })},
         {"the tiles are swapped, but the elements inside each tile are not transposed",
          by([=](int row, int col) {
              return std::pair(tile_of(col) + row % kTile, tile_of(row) + col % kTile);
          })},
         {"the guard of the store compares with the rows and columns of the input: in the "
          "output they are swapped",
          by([=, rows = rows, cols = cols](int row, int col) {
              return row < rows && col < cols ? std::pair(col, row) : std::pair(-1, -1);
          })},
         {"rows and columns are swapped in the grid: x counts columns of the input",
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
    // Unwritten slots of a tile have arbitrary values, which match no mistake.
    const bool all_full = rows % kTile == 0 && cols % kTile == 0;
    bool only_gaps = true;
    for (size_t i = 0; i < want.size(); ++i) only_gaps &= got[i] == want[i] || std::isnan(got[i]);
    if (all_full || only_gaps) recognize_moves(got, want, in, shape);
    size_t spoilt = 0;  // elements of the gaps that no longer hold their filling
    for (int row = 0; row < cols; ++row)
        for (int col = rows; col < out_pitch; ++col)
            spoilt += !std::isnan(out[size_t(row) * out_pitch + col]);
    const bool gaps_unchanged = spoilt == 0;
    INFO(spoilt << " floats in the gaps between the output's rows were overwritten");
    CHECK(gaps_unchanged);
    wb::check_unchanged(packed(d_in.download(), rows, cols, in_pitch),
                        packed(in, rows, cols, in_pitch));
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

void check_passes(int width, int want) {
    const int got = column_passes(width);
    const bool right = got == want;
    // Right where the product of lane and width fits in an int, and only there?
    const bool overflows = !right && width > INT_MAX / 31 && column_passes(width & 63) == want;
    INFO("column_passes(" << width << "): got " << got << ", want " << want
                          << (overflows ? "; 31 * width does not fit in an int" : ""));
    CHECK(right);
}

// For counting: square, all tiles full; and every row begins at a multiple of 32 bytes.
constexpr int kSide = 512;
constexpr uint64_t kElements = uint64_t(kSide) * kSide;
// Instructions of the busiest warp: 30 to 360 where a thread moves one to eight elements, 3,000
// where it moves 64. A thread that moves a whole tile needs 10,000, a warp that moves all 80,000.
constexpr uint64_t kBusiest = 5000;

std::optional<wb::Counters> counted_transpose(int rows, int cols) {
    wb::DeviceBuffer<float> d_in(wb::random_floats(size_t(rows) * cols, 9));
    wb::DeviceBuffer<float> d_out(size_t(rows) * cols);
    return wb::count([&] { transpose(d_in.get(), d_out.get(), rows, cols, cols, rows); });
}

// Rows that begin 2^31 floats after the first and later, in the input and in the output. A little
// of the gap behind each row is looked at.
void check_far_rows(Transpose transpose_it) {
    const int rows = 4, cols = 40, gap = 3, in_pitch = 1 << 30, out_pitch = (1 << 26) + 1;
    const auto in = matrix(rows, cols, gap, 30);
    const std::vector<float> before(size_t(cols) * (rows + gap), -7.0f);
    wb::SparseMatrix<float> d_in(rows, cols + gap, in_pitch, in);
    wb::SparseMatrix<float> d_out(cols, rows + gap, out_pitch, before);
    NEED_MEMORY(d_in && d_out);
    transpose_it(d_in.get(), d_out.get(), rows, cols, in_pitch, out_pitch);
    CUDA_CHECK(cudaGetLastError());
    auto want = before;
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            want[col * (rows + gap) + row] = in[row * (cols + gap) + col];
    CHECK_MATRIX(rows + gap, d_out.download(), want);
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

TEST_CASE("task 1: as many rows as allowed", "[task1]") {
    check_transpose(transpose_naive, {1 << 20, 1, 0, 0});
}

TEST_CASE("task 1: rows that begin 2^31 floats after the first and later", "[task1]") {
    check_far_rows(transpose_naive);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(50, 8)), d_out(50);
    wb::check_refused_launch("transpose_naive",
                             [&] { transpose_naive(d_in.get(), d_out.get(), 5, 10, 10, 5); });
}

TEST_CASE("task 2: counts the passes of tiles with simple widths", "[task2]") {
    check_passes(32, 32);
    check_passes(1, 1);
    check_passes(16, 16);
    check_passes(33, 1);
    check_passes(64, 32);
}

TEST_CASE("task 2: counts the passes of any width", "[task2]") {
    std::vector<int> got{0}, want{0};  // entry `width` is about that width
    for (int width = 1; width <= 4096; ++width) {
        int lowest_bit = width & -width;  // every lane's word is a multiple of it
        got.push_back(column_passes(width));
        want.push_back(std::min(lowest_bit, 32));
    }
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "width");
}

TEST_CASE("task 2: counts the passes of widths up to 2^31 - 1", "[task2]") {
    check_passes(INT_MAX, 1);  // 31 rows of these do not fit in an int
    check_passes(INT_MAX - 1, 2);
    check_passes(INT_MAX - 31, 32);
    check_passes((1 << 30) + 8, 8);
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

TEST_CASE("task 3: as many rows as allowed", "[task3]") {
    check_transpose(transpose, {1 << 20, 1, 0, 0});
}

TEST_CASE("task 3: restores the input when done twice", "[task3]") {
    check_twice(transpose);
}

TEST_CASE("task 3: rows that begin 2^31 floats after the first and later", "[task3]") {
    check_far_rows(transpose);
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(50, 8)), d_out(50);
    wb::check_refused_launch("transpose",
                             [&] { transpose(d_in.get(), d_out.get(), 5, 10, 10, 5); });
}

TEST_CASE("efficient: the naive kernel moves each element once, without shared memory",
          "[efficient][task1]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(kElements, 9)), d_out(kElements);
    const auto counted =
        wb::count([&] { transpose_naive(d_in.get(), d_out.get(), kSide, kSide, kSide, kSide); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == 4 * kElements);
    CHECK(counted->global_store_bytes == 4 * kElements);
    CHECK(counted->shared_store_requests + counted->shared_load_requests == 0);
    wb::check_shared_work(*counted, kElements / 64, 24, kBusiest);
}

TEST_CASE("efficient: moves each element once", "[efficient][task3]") {
    const auto counted = counted_transpose(kSide, kSide);
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == 4 * kElements);
    CHECK(counted->global_store_bytes == 4 * kElements);
    CHECK(counted->device_to_host_bytes + counted->device_to_device_bytes == 0);
}

TEST_CASE("efficient: neighbouring threads load neighbouring addresses", "[efficient][task3]") {
    const auto counted = counted_transpose(kSide, kSide);
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_sectors >= kElements / 8);
    CHECK(counted->global_load_sectors <= kElements / 8);
}

TEST_CASE("efficient: neighbouring threads store to neighbouring addresses", "[efficient][task3]") {
    const auto counted = counted_transpose(kSide, kSide);
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_sectors >= kElements / 8);
    CHECK(counted->global_store_sectors <= kElements / 8);
}

TEST_CASE("efficient: no two lanes read different words of one bank", "[efficient][task3]") {
    for (const auto& [rows, cols] : {std::pair{kSide, kSide}, {97, 331}}) {
        CAPTURE(rows, cols);
        const auto counted = counted_transpose(rows, cols);
        NEED_COUNTERS(counted);
        CHECK(counted->global_store_bytes == uint64_t(4) * rows * cols);
        CHECK(counted->shared_load_conflicts == 0);
        CHECK(counted->shared_store_conflicts == 0);
    }
}

TEST_CASE("efficient: one barrier for each tile", "[efficient][task3]") {
    const auto counted = counted_transpose(kSide, kSide);
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 4 * kElements);
    CHECK(counted->block_barriers <= kElements / (kTile * kTile));
    CHECK(counted->warp_instructions <= 4 * kElements);  // serial code needs more
    wb::check_shared_work(*counted, kElements / 64, 24, kBusiest);
}
