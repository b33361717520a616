// SPDX-License-Identifier: MIT
// The references of lesson 29's tests: products in double with their error bounds, loads counted
// tile by tile, and the results of common mistakes for the same matrices.
#pragma once

#include "cases/matrix_reference.h"
#include "matmul_tiled.h"

namespace {

using wb::laid_out, wb::packed, wb::Product, wb::ProductMistakes;
using Floats = std::vector<float>;
using Mistakes = ProductMistakes::List;

// Sizes, and the numbers of floats before the first element and after each row of each matrix.
struct Shape {
    int m, n, k;
    int a_gap = 0, b_gap = 0, c_gap = 0, before = 0;
    Sizes sizes() const { return {m, n, k, k + a_gap, n + b_gap, n + c_gap}; }
};

// a: m x k, b: k x n, both without gaps.
inline Product product(const Floats& a, const Floats& b, int m, int n, int k) {
    return wb::product(a, b, m, n, k, 0, k, k * 0x1p-24);
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

// Some of the k products of each element are not summed, or not once.
inline Mistakes missing_products(const ProductMistakes& with, int k) {
    const auto where = ProductMistakes::where;
    const auto last_of = [&](int side) {
        return with.only([side](int p) { return p % side == side - 1; });
    };
    return {{"only the first 32 products of each element are summed: where are the other tiles?",
             where(k > kTile, with.sum(0, kTile))},
            {"only the first 16 products of each element are summed: where are the other slabs?",
             where(k > 16, with.sum(0, 16))},
            {"the last products are missing: k is no multiple of the tile's side, 32",
             where(k > 2 * kTile && k % kTile, with.sum(0, k / kTile * kTile))},
            {"the last products are missing: k is no multiple of the slab's depth, 16",
             where(k > 32 && k % 16, with.sum(0, k / 16 * 16))},
            {"only the products of the last tile are in the sum",
             where(k > kTile, with.sum((k - 1) / kTile * kTile, k))},
            {"only the products of the last slab are in the sum",
             where(k > 16, with.sum((k - 1) / 16 * 16, k))},
            {"each round sums the products of the first tile again: `first` is missing in an index",
             where(k > kTile, with.instead([](int p) { return p % kTile; }))},
            {"only the last product of each tile is summed: which loop is the sum in?",
             where(k > kTile, last_of(kTile))},
            {"only the last product of each slab is summed: which loop are the sums in?",
             where(k > 16, last_of(16))},
            {"the first product is missing", where(k > 1, with.sum(1, k))},
            {"the last product is missing", where(k > 1, with.sum(0, k - 1))}};
}

// Each float with `half` added to its bits and those below 10 bits of fraction cut off.
inline Floats cut(Floats values, uint32_t half) {
    for (float& value : values) {
        uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        bits = (bits + half) & 0xFFFFE000u;
        std::memcpy(&value, &bits, sizeof bits);
    }
    return values;
}

// Other elements than those of A and B are multiplied.
inline Mistakes misread_inputs(const ProductMistakes& with, const Floats& a, const Floats& b,
                               const Shape& shape) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    const auto where = ProductMistakes::where;
    const auto a_as_wide_as_b = [&, n = n, k = k] {  // in arrays without gaps
        Floats left(a.size(), 0.0f);
        for (size_t i = 0; i < left.size(); ++i) {
            const size_t from = i / k * n + i % k;
            if (from < a.size()) left[i] = a[from];
        }
        return with.of(left, b);
    };
    const auto tiles = [&](bool turn_a, bool turn_b) {
        return [&, turn_a, turn_b] { return with_turned_tiles(a, b, shape, turn_a, turn_b); };
    };
    return {{"rows of A are read as if they began as far apart as those of B",
             where(n != k && m > 1 && !shape.a_gap && !shape.b_gap, a_as_wide_as_b)},
            {"the inputs have lost their last bits: sums are made of floats, in float",
             [&] { return with.of(cut(a, 0), cut(b, 0)); }},
            {"the inputs are rounded to 10 bits of fraction, as tensor cores do",
             [&] { return with.of(cut(a, 0x1000), cut(b, 0x1000)); }},
            {"the tile of B is read with rows and columns swapped: rows of A times rows of B",
             tiles(false, true)},
            {"the tile of A is read with rows and columns swapped: columns of A times columns of B",
             tiles(true, false)},
            {"both tiles are read with rows and columns swapped", tiles(true, true)},
            {"elements are multiplied one by one: this is no matrix product",
             where(m == n && n == k, [&] {
                 Floats each(a.size());
                 for (size_t i = 0; i < each.size(); ++i) each[i] = a[i] * b[i];
                 return each;
             })}};
}

// The sums are right and stored at wrong places.
inline Mistakes misplaced_sums(const ProductMistakes& with) {
    // Of 64: 16 apart when it is computed, side by side when it is stored, and the opposite.
    const auto apart = [](int i) { return i / 64 * 64 + i % 4 * 16 + i % 64 / 4; };
    const auto beside = [](int i) { return i / 64 * 64 + i % 16 * 4 + i % 64 / 16; };
    return {
        {"the sums are right, and each 16 x 16 of them have rows and columns swapped: x and y?",
         with.swapped_in(16)},
        {"the sums are right, and each 32 x 32 of them have rows and columns swapped: x and y?",
         with.swapped_in(32)},
        {"the sums are right, but a thread's elements lie 16 apart where it sums them, and side "
         "by side where it stores them",
         with.moved([=](int row, int col) { return std::pair(apart(row), apart(col)); })},
        {"the sums are right, but a thread's elements lie side by side where it sums them, and 16 "
         "apart where it stores them",
         with.moved([=](int row, int col) { return std::pair(beside(row), beside(col)); })},
        {"the sums are right, but a thread's rows lie 16 apart where it sums them, and side by "
         "side where it stores them",
         with.moved([=](int row, int col) { return std::pair(apart(row), col); })},
        {"the sums are right, but a thread's rows lie side by side where it sums them, and 16 "
         "apart where it stores them",
         with.moved([=](int row, int col) { return std::pair(beside(row), col); })},
        {"the sums are right, but a thread's columns lie 16 apart where it sums them, and side by "
         "side where it stores them",
         with.moved([=](int row, int col) { return std::pair(row, apart(col)); })},
        {"the sums are right, but a thread's columns lie side by side where it sums them, and 16 "
         "apart where it stores them",
         with.moved([=](int row, int col) { return std::pair(row, beside(col)); })}};
}

// `more`: mistakes of the same values that only the caller can make.
inline void recognize_mistakes(const Floats& got, const Product& want, const Floats& a,
                               const Floats& b, const Shape& shape,
                               const std::function<Mistakes(const ProductMistakes&)>& more) {
    const ProductMistakes with(a, b, want.values, shape.m, shape.n, shape.k);
    wb::recognize<float>(got,
                         want.values,
                         ProductMistakes::joined({missing_products(with, shape.k),
                                                  misread_inputs(with, a, b, shape),
                                                  with.swapped_matrices(),
                                                  misplaced_sums(with),
                                                  more(with)}),
                         [&](size_t i) { return 4 * want.bounds[i]; });
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
         each("2 m n k is divided by the tile's side, which is right only if all tiles are full",
              [](Wide m, Wide n, Wide k, Wide tile) { return 2 * m * n * k / tile; }),
         each("rows of A are counted once for each tile below, and columns of B for each tile "
              "beside",
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
