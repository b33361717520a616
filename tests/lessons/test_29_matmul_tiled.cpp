// SPDX-License-Identifier: MIT
// Lesson 29: C = A B for every shape and pitch, written over what C held, with few loads.
//
// Tolerance: each sum of k products may differ by k 2^-24 times the sum of their magnitudes, which
// is what k rounded products and additions cost at most, in any order. The data are random, with
// NaN in the gaps between rows; outputs start as NaN.
#include "call_checks.h"
#include "lesson_test.h"
#include "matmul_tiled.h"
#include "shared_work.h"
#include "sparse.h"

#include <algorithm>
#include <limits>

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kMost = 65536;

using Floats = std::vector<float>;
using Matmul = void (*)(const float*, const float*, float*, Sizes);

// Sizes, and how many floats of each matrix lie before its first element and behind each row.
struct Shape {
    int m, n, k;
    int a_gap = 0, b_gap = 0, c_gap = 0, before = 0;
    Sizes sizes() const { return {m, n, k, k + a_gap, n + b_gap, n + c_gap}; }
};

// `rows` x `cols` values as they lie in memory: NaN before the first and in the gaps.
Floats laid_out(const Floats& values, int rows, int cols, int pitch, int before) {
    Floats all(size_t(before) + size_t(rows) * pitch, kNan);
    for (int row = 0; row < rows; ++row)
        std::copy_n(
            values.begin() + size_t(row) * cols, cols, all.begin() + before + size_t(row) * pitch);
    return all;
}

// The elements of a matrix without its gaps, row after row.
Floats packed(const Floats& all, int rows, int cols, int pitch, int before) {
    Floats values;
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            values.push_back(all[before + size_t(row) * pitch + col]);
    return values;
}

struct Product {
    Floats values;
    std::vector<double> tolerance;
};

// a: m x k, b: k x n, both without gaps. Sums in double the products of [from, to).
Product product(const Floats& a, const Floats& b, int m, int n, int k, int from, int to) {
    Product out{Floats(size_t(m) * n), std::vector<double>(size_t(m) * n)};
    std::vector<double> sums(n), sizes(n);
    for (int row = 0; row < m; ++row) {
        std::fill(sums.begin(), sums.end(), 0.0);
        std::fill(sizes.begin(), sizes.end(), 0.0);
        for (int p = from; p < to; ++p) {
            const double left = a[size_t(row) * k + p];
            for (int col = 0; col < n; ++col) {
                const double one = left * b[size_t(p) * n + col];
                sums[col] += one;
                sizes[col] += std::fabs(one);
            }
        }
        for (int col = 0; col < n; ++col) {
            out.values[size_t(row) * n + col] = float(sums[col]);
            out.tolerance[size_t(row) * n + col] = k * 0x1p-24 * sizes[col];
        }
    }
    return out;
}

Floats turned(const Floats& x, int rows, int cols) {
    Floats out(x.size());
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            out[size_t(col) * rows + row] = x[size_t(row) * cols + col];
    return out;
}

// The sums of a kernel with tiles that reads a tile of A, of B, or both with rows and columns
// swapped.
Floats with_turned_tiles(const Floats& a, const Floats& b, const Shape& shape, bool turn_a,
                         bool turn_b) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    const auto at = [](const Floats& x, int row, int col, int rows, int cols) {
        return row < rows && col < cols ? double(x[size_t(row) * cols + col]) : 0.0;
    };
    Floats out(size_t(m) * n);
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < n; ++col) {
            const int y = row % kTile, x = col % kTile;
            double sum = 0;
            for (int first = 0; first < k; first += kTile)
                for (int p = 0; p < kTile; ++p) {
                    const double left =
                        turn_a ? at(a, row - y + p, first + y, m, k) : at(a, row, first + p, m, k);
                    const double right =
                        turn_b ? at(b, first + x, col - x + p, k, n) : at(b, first + p, col, k, n);
                    sum += left * right;
                }
            out[size_t(row) * n + col] = float(sum);
        }
    return out;
}

// The right sums at wrong places: `from` says which element of C is stored at a row and a column.
Floats moved(const Floats& c, int m, int n,
             const std::function<std::pair<int, int>(int, int)>& from) {
    Floats out(c.size(), 0.0f);  // sums without a place in C are zero
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < n; ++col) {
            const auto [r, q] = from(row, col);
            if (r < m && q < n) out[size_t(row) * n + col] = c[size_t(r) * n + q];
        }
    return out;
}

void recognize_mistakes(const Floats& got, const Product& want, const Floats& a, const Floats& b,
                        const Shape& shape) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    using Make = std::function<Floats()>;
    // Where a mistake makes no difference, nothing is as long as no answer.
    const auto where = [](bool differs, Make make) {
        return differs ? make : Make([] { return Floats(); });
    };
    const auto sum = [&, m = m, n = n, k = k](int from, int to) {
        return Make([&, m, n, k, from, to] { return product(a, b, m, n, k, from, to).values; });
    };
    const auto of = [m = m, n = n, k = k](const Floats& left, const Floats& right) {
        return product(left, right, m, n, k, 0, k).values;
    };
    const auto tiles = [&](bool turn_a, bool turn_b) {
        return Make([&, turn_a, turn_b] { return with_turned_tiles(a, b, shape, turn_a, turn_b); });
    };
    const auto places = [&, m = m, n = n](std::function<std::pair<int, int>(int, int)> from) {
        return Make([&, m, n, from] { return moved(want.values, m, n, from); });
    };
    const auto swapped_in = [&](int side) {
        return places([side](int row, int col) {
            return std::pair(row / side * side + col % side, col / side * side + row % side);
        });
    };
    // Of 64: 16 apart when it is computed, side by side when it is stored, and the opposite.
    const auto apart = [](int i) { return i / 64 * 64 + i % 4 * 16 + i % 64 / 4; };
    const auto beside = [](int i) { return i / 64 * 64 + i % 16 * 4 + i % 64 / 16; };
    const bool square = m == n && n == k;
    wb::recognize<float>(
        got,
        want.values,
        {{"only the first 32 products of each element are summed: where are the other tiles?",
          where(k > kTile, sum(0, kTile))},
         {"only the first 16 products of each element are summed: where are the other slabs?",
          where(k > 16, sum(0, 16))},
         {"the last products are missing: k is no multiple of the tile's side, 32",
          where(k > 2 * kTile && k % kTile, sum(0, k / kTile * kTile))},
         {"the last products are missing: k is no multiple of the slab's depth, 16",
          where(k > 32 && k % 16, sum(0, k / 16 * 16))},
         {"only the products of the last tile are in the sum",
          where(k > kTile, sum((k - 1) / kTile * kTile, k))},
         {"only the products of the last slab are in the sum",
          where(k > 16, sum((k - 1) / 16 * 16, k))},
         {"the first product is missing", where(k > 1, sum(1, k))},
         {"the last product is missing", where(k > 1, sum(0, k - 1))},
         {"the tile of B is read with rows and columns swapped: rows of A meet rows of B",
          tiles(false, true)},
         {"the tile of A is read with rows and columns swapped: columns of A meet columns of B",
          tiles(true, false)},
         {"both tiles are read with rows and columns swapped", tiles(true, true)},
         {"A and B have changed places: this is B A", where(square, [&] { return of(b, a); })},
         {"rows of A meet rows of B: B is read as if rows and columns were swapped",
          where(n == k, [&, n = n, k = k] { return of(a, turned(b, k, n)); })},
         {"columns of A meet columns of B: A is read as if rows and columns were swapped",
          where(m == k, [&, m = m, k = k] { return of(turned(a, m, k), b); })},
         {"the product is right, and its rows and columns are swapped",
          where(m == n, [&, m = m, n = n] { return turned(want.values, m, n); })},
         {"the sums are right, and each 16 x 16 of them have rows and columns swapped: x and y?",
          swapped_in(16)},
         {"the sums are right, and each 32 x 32 of them have rows and columns swapped: x and y?",
          swapped_in(32)},
         {"the sums are right, but a thread's elements lie 16 apart where it sums them, and side "
          "by side where it stores them",
          places([=](int row, int col) { return std::pair(apart(row), apart(col)); })},
         {"the sums are right, but a thread's elements lie side by side where it sums them, and 16 "
          "apart where it stores them",
          places([=](int row, int col) { return std::pair(beside(row), beside(col)); })},
         {"elements are multiplied one by one: this is no matrix product",
          where(square,
                [&] {
                    Floats each(a.size());
                    for (size_t i = 0; i < each.size(); ++i) each[i] = a[i] * b[i];
                    return each;
                })}},
        [&](size_t i) { return 4 * want.tolerance[i]; });
}

void check_product(Matmul matmul, const Shape& shape) {
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
    const Product want = product(a, b, m, n, k, 0, k);
    CHECK_MATRIX(n, got, want.values, [&](size_t i) { return want.tolerance[i]; });
    recognize_mistakes(got, want, a, b, shape);
    const auto run_on = [&](const Floats& all, size_t elements) {  // as if there were no gaps
        return Floats(all.begin() + before, all.begin() + before + elements);
    };
    if (shape.a_gap || shape.b_gap)
        wb::recognize<float>(
            got,
            want.values,
            {{"rows of A and B are read as if they had no gaps: their pitches say where they begin",
              [&, m = m, n = n, k = k] {
                  return product(run_on(in_a, a.size()), run_on(in_b, b.size()), m, n, k, 0, k)
                      .values;
              }}},
            [&](size_t i) { return 4 * want.tolerance[i]; });
    size_t spoilt = 0;  // floats that are not part of C and no longer hold their filling
    for (size_t i = 0; i < c.size(); ++i) {
        const bool inside =
            i >= size_t(before) && int((i - before) % sizes.c_pitch) < n && sizes.c_pitch > 0;
        spoilt += !inside && !std::isnan(c[i]);
    }
    const bool gaps_unchanged = spoilt == 0;
    INFO(spoilt << " floats between the rows of C were overwritten");
    CHECK(gaps_unchanged);
    wb::check_unchanged(d_a.download(), in_a);
    wb::check_unchanged(d_b.download(), in_b);
    CHECK(d_c.intact());
}

constexpr Shape kSquare[] = {{1, 1, 1},
                             {17, 17, 17},
                             {32, 32, 32},
                             {33, 33, 33},
                             {64, 64, 64},
                             {65, 65, 65},
                             {96, 96, 96},
                             {129, 129, 129}};
constexpr Shape kOblong[] = {{1, 1, 1000},
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

void check_shapes(Matmul matmul, const Shape* begin, const Shape* end) {
    for (const Shape* shape = begin; shape != end; ++shape) check_product(matmul, *shape);
}

// C holds numbers, and not the usual NaN: what is added to them can be recognised.
void check_overwrites(Matmul matmul) {
    const int m = 70, n = 40, k = 50;
    const Floats a = wb::random_floats(m * k, 11), b = wb::random_floats(k * n, 12);
    const Floats held = wb::random_floats(m * n, 13, 100, 200);
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(held, wb::guard(kGuard));
    matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n});
    CUDA_CHECK(cudaGetLastError());
    const Product want = product(a, b, m, n, k, 0, k);
    const Floats got = d_c.download();
    CHECK_MATRIX(n, got, want.values, [&](size_t i) { return want.tolerance[i]; });
    wb::recognize<float>(got,
                         want.values,
                         {{"the product is added to what C held before: it should replace that",
                           [&] {
                               Floats sums = held;
                               for (size_t i = 0; i < sums.size(); ++i) sums[i] += want.values[i];
                               return sums;
                           }}},
                         [](size_t) { return 1e-3; });
}

void check_no_products(Matmul matmul) {
    for (const auto& [m, n] : {std::pair{1, 1}, {33, 70}, {64, 64}})
        check_product(matmul, {m, n, 0, 0, 0, 3});
}

void check_empty(Matmul matmul) {
    const auto counters = wb::count([&] {
        matmul(nullptr, nullptr, nullptr, {0, 0, 0, 0, 0, 0});
        matmul(nullptr, nullptr, nullptr, {0, 5, 7, 7, 5, 5});
        matmul(nullptr, nullptr, nullptr, {5, 0, 7, 7, 0, 0});
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    check_product(matmul, {2, 3, 4});  // and afterwards the device is as usable as before
}

// Rows that begin 2^31 floats after the first and later, in all three. A little of the gap behind
// each row is looked at.
void check_far_rows(Matmul matmul) {
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
    const Product sums = product(a, b, m, n, k, 0, k);
    Floats want = before;
    for (int row = 0; row < m; ++row)
        std::copy_n(sums.values.begin() + row * n, n, want.begin() + row * (n + gap));
    CHECK_MATRIX(n + gap, d_c.download(), want, [&](size_t i) {
        const size_t row = i / (n + gap), col = i % (n + gap);
        return col < size_t(n) ? sums.tolerance[row * n + col] : 0.0;
    });
}

// An infinite element makes a row of C infinite, or a column, and no other. B and A are positive,
// so that no sum of infinities is left undefined.
void check_infinity(Matmul matmul, bool in_a) {
    const int m = 40, n = 37, k = 45;
    Floats a = wb::random_floats(m * k, 41, 0.5f, 1), b = wb::random_floats(k * n, 42, 0.5f, 1);
    (in_a ? a[3 * k + 30] : b[30 * n + 3]) = kInfinity;
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(m * n, wb::guard(kGuard));
    matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n});
    CUDA_CHECK(cudaGetLastError());
    const Product want = product(a, b, m, n, k, 0, k);
    CHECK_MATRIX(n, d_c.download(), want.values, [&](size_t i) {
        return std::isfinite(want.values[i]) ? want.tolerance[i] : 0.0;
    });
}

void check_refused(const char* name, Matmul matmul) {
    wb::DeviceBuffer<float> d_a(wb::random_floats(50, 8)), d_b(wb::random_floats(50, 9)), d_c(25);
    wb::check_refused_launch(name, [&] {
        matmul(d_a.get(), d_b.get(), d_c.get(), {5, 5, 10, 10, 5, 5});
    });
}

long long loads(int m, int n, int k, int tile) {  // one row of tiles after the other
    long long floats = 0;
    const long long across = n / tile + (n % tile != 0);
    for (int row = 0; row < m; row += tile) floats += across * std::min(tile, m - row) + n;
    return floats * k;
}

struct Count {
    int m, n, k, tile;
};

void check_loads(const std::vector<Count>& counts) {
    using Numbers = std::vector<long long>;
    Numbers got, want;
    for (const auto& [m, n, k, tile] : counts) {
        got.push_back(floats_loaded(m, n, k, tile));
        want.push_back(loads(m, n, k, tile));
        const bool right = got.back() == want.back();
        INFO("floats_loaded(" << m << ", " << n << ", " << k << ", " << tile << "): got "
                              << got.back() << ", want " << want.back());
        CHECK(right);
    }
    const auto each = [&](const char* words, auto&& count) {
        return wb::Mistake<long long>{words, [&counts, count] {
                                          Numbers all;
                                          for (const auto& [m, n, k, tile] : counts)
                                              all.push_back(count(m, n, k, tile));
                                          return all;
                                      }};
    };
    using Wide = long long;
    const auto up = [](int n, int tile) { return (Wide(n) + tile - 1) / tile; };
    wb::recognize<Wide>(
        got,
        want,
        {each("tiles that are not full are left out",
              [](Wide m, Wide n, Wide k, Wide tile) {
                  return k * (m * (n / tile) + n * (m / tile));
              }),
         each("tiles at the edges are counted as if they were full",
              [=](int m, int n, int k, int tile) {
                  return 2 * up(m, tile) * up(n, tile) * tile * k;
              }),
         each("2 m n k is divided by the tile's side, which is right where all tiles are full",
              [](Wide m, Wide n, Wide k, Wide tile) { return 2 * m * n * k / tile; }),
         each("rows of A are counted for the tiles below them, and columns of B for those beside",
              [=](int m, int n, int k, int tile) {
                  return k * (m * up(m, tile) + n * up(n, tile));
              }),
         each("only the loads of A are counted",
              [=](int m, int n, int k, int tile) { return k * (m * up(n, tile)); }),
         each("only the loads of B are counted",
              [=](int m, int n, int k, int tile) { return k * (n * up(m, tile)); }),
         each("the number is computed in an int, which ends at 2^31 - 1",
              [=](int m, int n, int k, int tile) {
                  return Wide(int(loads(m, n, k, tile) & 0xFFFFFFFF));
              })});
}

// What the property tests look at: whole tiles, and every row begins at a multiple of 32 bytes.
constexpr int kRows = 256, kCols = 128, kDepth = 64;
constexpr uint64_t kElements = uint64_t(kRows) * kCols, kProducts = kElements * kDepth;

std::optional<EmulatorCounters> counted(Matmul matmul, int m, int n, int k) {
    wb::DeviceBuffer<float> d_a(wb::random_floats(size_t(m) * k, 51));
    wb::DeviceBuffer<float> d_b(wb::random_floats(size_t(k) * n, 52)), d_c(size_t(m) * n);
    return wb::count([&] { matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n}); });
}

// Loads of floats from global memory, and products, of any shape.
void check_global_loads(Matmul matmul, int m, int n, int k, int tile) {
    CAPTURE(m, n, k);
    const auto counters = counted(matmul, m, n, k);
    NEED_COUNTERS(counters);
    const uint64_t most = loads(m, n, k, tile), floats = counters->global_load_bytes / 4;
    INFO(floats << " floats are loaded from global memory, want at most " << most);
    CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
    CHECK(counters->launches == 1);
    CHECK(floats <= most);
    CHECK(counters->device_to_device_bytes + counters->device_to_host_bytes == 0);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->global_atomics == 0);
}

// By what is requested: sectors that hold nothing else.
void check_sectors(Matmul matmul) {
    const auto counters = counted(matmul, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->global_load_sectors <= counters->global_load_bytes / 32);
    CHECK(counters->global_store_sectors <= kElements / 8);
}

void check_banks(Matmul matmul) {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(matmul, m, n, k);
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
        CHECK(counters->shared_load_conflicts == 0);
        CHECK(counters->shared_store_conflicts == 0);
    }
}

}  // namespace

TEST_CASE("task 1: multiplies square matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 1: multiplies wide and tall matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 1: multiplies parts of larger matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 1: replaces what C held before", "[task1]") {
    check_overwrites(matmul_naive);
}

TEST_CASE("task 1: gives zeros where there is nothing to sum", "[task1]") {
    check_no_products(matmul_naive);
}

TEST_CASE("task 1: launches nothing for an empty matrix", "[task1]") {
    check_empty(matmul_naive);
}

TEST_CASE("task 1: as many rows and columns as allowed", "[task1]") {
    check_product(matmul_naive, {kMost, 1, 1});
    check_product(matmul_naive, {1, kMost, 1});
    check_product(matmul_naive, {1, 1, kMost});
}

TEST_CASE("task 1: rows that begin 2^31 floats after the first and later", "[task1]") {
    check_far_rows(matmul_naive);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    check_refused("matmul_naive", matmul_naive);
}

TEST_CASE("task 2: counts the loads of whole tiles", "[task2]") {
    // By hand: 4 tiles, each with 32 rows and 32 columns of 64 floats; and without a tile, two
    // floats for each product.
    CHECK_RESULT(floats_loaded(64, 64, 64, 32), 4 * 2 * 32 * 64);
    CHECK_RESULT(floats_loaded(100, 100, 100, 1), 2000000);
    check_loads({{64, 64, 64, 32}, {1, 1, 1, 1}, {100, 100, 100, 1}, {96, 32, 500, 32}});
}

TEST_CASE("task 2: counts the loads of tiles that are not full", "[task2]") {
    std::vector<Count> counts;
    for (const int m : {0, 1, 31, 32, 33, 65, 100})
        for (const int n : {0, 1, 31, 32, 33, 65, 97})
            for (const int k : {0, 1, 50})
                for (const int tile : {1, 16, 32, 64}) counts.push_back({m, n, k, tile});
    check_loads(counts);
}

TEST_CASE("task 2: counts the loads of matrices as large as allowed", "[task2]") {
    check_loads({{4096, 4096, 4096, 32},
                 {kMost, kMost, kMost, 1},
                 {kMost, kMost, kMost, 32},
                 {kMost, kMost - 1, kMost - 2, 64},
                 {kMost, 1, kMost, kMost},
                 {kMost, kMost, 1, kMost},
                 {50000, 40000, 30000, 7}});
}

TEST_CASE("task 3: multiplies square matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 3: multiplies wide and tall matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 3: multiplies parts of larger matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 3: replaces what C held before", "[task3]") {
    check_overwrites(matmul_tiled);
}

TEST_CASE("task 3: gives zeros where there is nothing to sum", "[task3]") {
    check_no_products(matmul_tiled);
}

TEST_CASE("task 3: launches nothing for an empty matrix", "[task3]") {
    check_empty(matmul_tiled);
}

TEST_CASE("task 3: an infinity stays in its row or column", "[task3]") {
    check_infinity(matmul_tiled, true);
    check_infinity(matmul_tiled, false);
}

TEST_CASE("task 3: as many rows and columns as allowed", "[task3]") {
    check_product(matmul_tiled, {kMost, 1, 0});
    check_product(matmul_tiled, {1, kMost, 0});
    check_product(matmul_tiled, {1, 1, kMost});
}

TEST_CASE("task 3: rows that begin 2^31 floats after the first and later", "[task3]") {
    check_far_rows(matmul_tiled);
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    check_refused("matmul_tiled", matmul_tiled);
}

TEST_CASE("task 4: multiplies square matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 4: multiplies wide and tall matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 4: multiplies parts of larger matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 4: replaces what C held before", "[task4]") {
    check_overwrites(matmul_registers);
}

TEST_CASE("task 4: gives zeros where there is nothing to sum", "[task4]") {
    check_no_products(matmul_registers);
}

TEST_CASE("task 4: launches nothing for an empty matrix", "[task4]") {
    check_empty(matmul_registers);
}

TEST_CASE("task 4: an infinity stays in its row or column", "[task4]") {
    check_infinity(matmul_registers, true);
    check_infinity(matmul_registers, false);
}

TEST_CASE("task 4: as many rows and columns as allowed", "[task4]") {
    check_product(matmul_registers, {kMost, 1, 0});
    check_product(matmul_registers, {1, kMost, 0});
    check_product(matmul_registers, {1, 1, kMost});
}

TEST_CASE("task 4: rows that begin 2^31 floats after the first and later", "[task4]") {
    check_far_rows(matmul_registers);
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    check_refused("matmul_registers", matmul_registers);
}

TEST_CASE("efficient: the naive kernel loads two floats for each product, side by side",
          "[efficient][task1]") {
    check_global_loads(matmul_naive, kRows, kCols, kDepth, 1);
    const auto counters = counted(matmul_naive, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    // For 32 products: one sector of A, which all lanes share, and four of B.
    CHECK(counters->global_load_sectors <= 5 * kProducts / 32);
    CHECK(counters->global_store_sectors <= kElements / 8);
    CHECK(counters->shared_store_requests + counters->shared_load_requests == 0);
    CHECK(counters->double_instructions == 0);
    wb::check_shared_work(*counters, kElements, 31, 4000);
}

TEST_CASE("efficient: a tile is loaded once for all threads of a block", "[efficient][task3]") {
    check_global_loads(matmul_tiled, kRows, kCols, kDepth, kTile);
    check_global_loads(matmul_tiled, 97, 75, 50, kTile);
}

TEST_CASE("efficient: tiles are loaded and stored by neighbouring threads, side by side",
          "[efficient][task3]") {
    check_sectors(matmul_tiled);
}

TEST_CASE("efficient: no two lanes read different words of one bank", "[efficient][task3]") {
    check_banks(matmul_tiled);
}

TEST_CASE("efficient: two barriers for each tile, and all threads multiply", "[efficient][task3]") {
    const auto counters = counted(matmul_tiled, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    // And one more of each block, for what comes after its tiles.
    CHECK(counters->block_barriers <= 2 * kProducts / (kTile * kTile * kTile) + counters->blocks);
    CHECK(counters->double_instructions == 0);
    CHECK(counters->local_load_requests + counters->local_store_requests == 0);
    CHECK(counters->warp_instructions <= 6 * kProducts / 32);
    wb::check_shared_work(*counters, kElements / 8, 31, 2500);
}

TEST_CASE("efficient: 64 x 64 elements share what their block loads", "[efficient][task4]") {
    check_global_loads(matmul_registers, kRows, kCols, kDepth, 64);
    check_global_loads(matmul_registers, 97, 75, 50, 64);
}

TEST_CASE("efficient: slabs are loaded and stored by neighbouring threads, side by side",
          "[efficient][task4]") {
    check_sectors(matmul_registers);
}

TEST_CASE("efficient: slabs are read without bank conflicts", "[efficient][task4]") {
    check_banks(matmul_registers);
}

TEST_CASE("efficient: what a thread has in registers serves several products",
          "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    const double each = 32.0 * double(counters->shared_load_requests) / double(kProducts);
    INFO(each << " loads from shared memory for each product, want at most 0.7");
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(each <= 0.7);
    CHECK(counters->warp_instructions <= 5 * kProducts / 32);
    CHECK(counters->double_instructions == 0);
}

TEST_CASE("efficient: sums are in registers, and not in local memory", "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->local_load_requests == 0);
    CHECK(counters->local_store_requests == 0);
}

TEST_CASE("efficient: two barriers for each slab, and all threads share the work",
          "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    // A slab of 64 x 64 elements has at least 8 columns of A.
    CHECK(counters->block_barriers <= 2 * kProducts / (64 * 64 * 8) + counters->blocks);
    wb::check_shared_work(*counters, kElements / 64, 30, 9000);
}
