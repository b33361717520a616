// SPDX-License-Identifier: MIT
// What lesson 29's test compares with: products in double with their error bounds, loads counted
// tile by tile, and what usual mistakes make of the same matrices.
#pragma once

#include "lesson_test.h"
#include "matmul_tiled.h"

#include <algorithm>
#include <limits>

namespace {

using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Sizes, and how many floats of each matrix lie before its first element and behind each row.
struct Shape {
    int m, n, k;
    int a_gap = 0, b_gap = 0, c_gap = 0, before = 0;
    Sizes sizes() const { return {m, n, k, k + a_gap, n + b_gap, n + c_gap}; }
};

// `rows` x `cols` values as they lie in memory: NaN before the first and in the gaps.
inline Floats laid_out(const Floats& values, int rows, int cols, int pitch, int before) {
    Floats all(size_t(before) + size_t(rows) * pitch, kNan);
    for (int row = 0; row < rows; ++row)
        std::copy_n(
            values.begin() + size_t(row) * cols, cols, all.begin() + before + size_t(row) * pitch);
    return all;
}

// The elements of a matrix without its gaps, row after row.
inline Floats packed(const Floats& all, int rows, int cols, int pitch, int before) {
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
inline Product product(const Floats& a, const Floats& b, int m, int n, int k, int from, int to) {
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

inline Floats turned(const Floats& x, int rows, int cols) {
    Floats out(x.size());
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            out[size_t(col) * rows + row] = x[size_t(row) * cols + col];
    return out;
}

// The sums of a kernel with tiles that reads a tile of A, of B, or both with rows and columns
// swapped.
inline Floats with_turned_tiles(const Floats& a, const Floats& b, const Shape& shape, bool turn_a,
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
inline Floats moved(const Floats& c, int m, int n,
                    const std::function<std::pair<int, int>(int, int)>& from) {
    Floats out(c.size(), 0.0f);  // sums without a place in C are zero
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < n; ++col) {
            const auto [r, q] = from(row, col);
            if (r < m && q < n) out[size_t(row) * n + col] = c[size_t(r) * n + q];
        }
    return out;
}

// `more`: mistakes of the same values that only the caller can make.
// `more`: mistakes of the same values that only the caller can make.
using Mistakes = std::vector<wb::Mistake<float>>;
inline void recognize_mistakes(const Floats& got, const Product& want, const Floats& a,
                               const Floats& b, const Shape& shape, const Mistakes& more) {
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
    const auto fitted = [](Floats values, const std::function<float(float)>& round) {
        for (float& value : values) value = round(value);
        return values;
    };
    const auto rounded_with = [&](uint32_t half) {  // to 10 bits of fraction, after adding `half`
        return Make([&, half] {
            const auto round = [half](float value) {
                uint32_t bits = 0;
                std::memcpy(&bits, &value, sizeof bits);
                bits = (bits + half) & 0xFFFFE000u;
                std::memcpy(&value, &bits, sizeof bits);
                return value;
            };
            return of(fitted(a, round), fitted(b, round));
        });
    };
    const auto last_of_each = [&, k = k](int side) {  // one product of each tile or slab
        return Make([&, k, side] {
            Floats left = a;
            for (size_t i = 0; i < left.size(); ++i)
                if (i % k % side != size_t(side) - 1) left[i] = 0;
            return of(left, b);
        });
    };
    const auto a_as_wide_as_b = Make([&, m = m, n = n, k = k] {  // in arrays without gaps
        Floats left(a.size(), 0.0f);
        for (size_t i = 0; i < left.size(); ++i) {
            const size_t from = i / k * n + i % k;
            if (from < a.size()) left[i] = a[from];
        }
        return of(left, b);
    });
    const auto first_tile_again = Make([&, m = m, n = n, k = k] {
        Floats left(a.size()), right(b.size());
        for (int p = 0; p < k; ++p) {
            for (int row = 0; row < m; ++row)
                left[size_t(row) * k + p] = a[size_t(row) * k + p % kTile];
            for (int col = 0; col < n; ++col)
                right[size_t(p) * n + col] = b[size_t(p % kTile) * n + col];
        }
        return of(left, right);
    });
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
    Mistakes all{
        {"only the first 32 products of each element are summed: where are the other tiles?",
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
        {"each round sums the products of the first tile again: `first` is missing in an index",
         where(k > kTile, first_tile_again)},
        {"only the last product of each tile is summed: which loop is the sum in?",
         where(k > kTile, last_of_each(kTile))},
        {"only the last product of each slab is summed: which loop are the sums in?",
         where(k > 16, last_of_each(16))},
        {"rows of A are read as if they began as far apart as those of B",
         where(n != k && m > 1 && !shape.a_gap && !shape.b_gap, a_as_wide_as_b)},
        {"the inputs have lost their last bits: sums are made of floats, in float",
         rounded_with(0)},
        {"the inputs are rounded to 10 bits of fraction, as tensor cores do", rounded_with(0x1000)},
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
        {"the sums are right, but a thread's rows lie 16 apart where it sums them, and side by "
         "side where it stores them",
         places([=](int row, int col) { return std::pair(apart(row), col); })},
        {"the sums are right, but a thread's rows lie side by side where it sums them, and 16 "
         "apart where it stores them",
         places([=](int row, int col) { return std::pair(beside(row), col); })},
        {"the sums are right, but a thread's columns lie 16 apart where it sums them, and side by "
         "side where it stores them",
         places([=](int row, int col) { return std::pair(row, apart(col)); })},
        {"the sums are right, but a thread's columns lie side by side where it sums them, and 16 "
         "apart where it stores them",
         places([=](int row, int col) { return std::pair(row, beside(col)); })},
        {"elements are multiplied one by one: this is no matrix product", where(square, [&] {
             Floats each(a.size());
             for (size_t i = 0; i < each.size(); ++i) each[i] = a[i] * b[i];
             return each;
         })}};
    all.insert(all.end(), more.begin(), more.end());
    wb::recognize<float>(got, want.values, all, [&](size_t i) { return 4 * want.tolerance[i]; });
}

inline long long loads(int m, int n, int k, int tile) {  // one row of tiles after the other
    long long floats = 0;
    const long long across = n / tile + (n % tile != 0);
    for (int row = 0; row < m; row += tile) floats += across * std::min(tile, m - row) + n;
    return floats * k;
}

struct Count {
    int m, n, k, tile;
};

inline void check_loads(const std::vector<Count>& counts) {
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

}  // namespace
