// SPDX-License-Identifier: MIT
// What lesson 30's test compares with: halves and how they lie in memory, products in double with
// their error bounds, and what usual mistakes make of the same matrices.
#pragma once

#include "lesson_test.h"
#include "tensor_cores.h"

#include <algorithm>
#include <limits>

namespace {

using Floats = std::vector<float>;
using Halves = std::vector<half>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline Halves rounded(const Floats& values) {
    Halves out;
    for (const float value : values) out.push_back(__float2half_rn(value));
    return out;
}
inline Floats widened(const Halves& values) {
    Floats out;
    for (const half value : values) out.push_back(__half2float(value));
    return out;
}
// An output: a half that nothing was stored to becomes a float that nothing was stored to.
inline Floats widened_output(const Halves& values) {
    Floats out = widened(values);
    for (size_t i = 0; i < out.size(); ++i)
        if (__half_as_ushort(values[i]) == 0xFFFF) std::memset(&out[i], 0xFF, sizeof out[i]);
    return out;
}

// n random values between low and high that a half can hold.
inline Floats random_halves(size_t n, uint64_t seed, float low = -1, float high = 1) {
    return widened(rounded(wb::random_floats(n, seed, low, high)));
}

// Sizes, and how many elements of each matrix lie before its first one and behind each row.
struct Shape {
    int m, n, k;
    int a_gap = 0, b_gap = 0, c_gap = 0, before = 0;
    Order order = Order::kRows;  // of B
    // B as it lies in memory: so many lines of so many elements.
    int b_lines() const { return order == Order::kRows ? k : n; }
    int b_length() const { return order == Order::kRows ? n : k; }
    Sizes sizes() const { return {m, n, k, k + a_gap, b_length() + b_gap, n + c_gap}; }
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
template <class T>
std::vector<T> packed(const std::vector<T>& all, int rows, int cols, int pitch, int before) {
    std::vector<T> values;
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            values.push_back(all[before + size_t(row) * pitch + col]);
    return values;
}

// rows x cols values, turned to cols x rows.
inline Floats turned(const Floats& x, int rows, int cols) {
    Floats out(x.size());
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            out[size_t(col) * rows + row] = x[size_t(row) * cols + col];
    return out;
}

struct Product {
    Floats values;
    std::vector<double> tolerance;
};

// a: m x k, b: k x n, both without gaps. Sums in double the products of [from, to).
inline Product product(const Floats& a, const Floats& b, int m, int n, int k, int from, int to) {
    Product out{Floats(size_t(m) * n), std::vector<double>(size_t(m) * n)};
    std::vector<double> sums(n), magnitudes(n);
    for (int row = 0; row < m; ++row) {
        std::fill(sums.begin(), sums.end(), 0.0);
        std::fill(magnitudes.begin(), magnitudes.end(), 0.0);
        for (int p = from; p < to; ++p) {
            const double left = a[size_t(row) * k + p];
            for (int col = 0; col < n; ++col) {
                const double one = left * b[size_t(p) * n + col];
                sums[col] += one;
                magnitudes[col] += std::fabs(one);
            }
        }
        for (int col = 0; col < n; ++col) {
            out.values[size_t(row) * n + col] = float(sums[col]);
            out.tolerance[size_t(row) * n + col] = (k + 1) * 0x1p-23 * magnitudes[col];
        }
    }
    return out;
}

// The sums of halves that a kernel makes that rounds them to half after every matrix instruction.
inline Floats summed_in_halves(const Floats& a, const Floats& b, int m, int n, int k) {
    Floats out(size_t(m) * n);
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < n; ++col) {
            float sum = 0;
            for (int first = 0; first < k; first += kSide) {
                double part = sum;
                for (int p = first; p < std::min(k, first + kSide); ++p)
                    part += double(a[size_t(row) * k + p]) * b[size_t(p) * n + col];
                sum = __half2float(__double2half(part));
            }
            out[size_t(row) * n + col] = sum;
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
inline void recognize_mistakes(const Floats& got, const Product& want, const Floats& a,
                               const Floats& b, const Shape& shape,
                               const wb::Mistake<float>& more) {
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
    const auto first_again = [&, m = m, n = n, k = k](int side) {  // of each fragment or slab
        return Make([&, m, n, k, side] {
            Floats left(a.size()), right(b.size());
            for (int p = 0; p < k; ++p) {
                for (int row = 0; row < m; ++row)
                    left[size_t(row) * k + p] = a[size_t(row) * k + p % side];
                for (int col = 0; col < n; ++col)
                    right[size_t(p) * n + col] = b[size_t(p % side) * n + col];
            }
            return of(left, right);
        });
    };
    const auto places = [&, m = m, n = n](std::function<std::pair<int, int>(int, int)> from) {
        return Make([&, m, n, from] { return moved(want.values, m, n, from); });
    };
    // Rows of each fragment as if they began 16 elements apart. What lies after the end is 0 here.
    const auto rows_16_apart = [](const Floats& x, int cols) {
        Floats out(x.size(), 0.0f);
        for (size_t i = 0; i < x.size(); ++i) {
            const size_t row = i / cols, col = i % cols;
            const size_t from =
                (row / kSide * cols + row % kSide + col / kSide) * kSide + col % kSide;
            if (from < x.size()) out[i] = x[from];
        }
        return out;
    };
    const bool no_gaps = !shape.a_gap && !shape.b_gap;
    const bool square = m == n && n == k;
    wb::recognize<float>(
        got,
        want.values,
        {more,
         {"rows of A are read as if they began 16 apart: ldm is the distance of two rows, a pitch",
          where(no_gaps && k > kSide, [&, k = k] { return of(rows_16_apart(a, k), b); })},
         {"rows of B are read as if they began 16 apart: ldm is the distance of two rows, a pitch",
          where(no_gaps && n > kSide && shape.order == Order::kRows,
                [&, n = n] { return of(a, rows_16_apart(b, n)); })},
         {"rows of A and B are read as if they began 16 apart: ldm is the distance of two rows, a "
          "pitch",
          where(no_gaps && k > kSide && n > kSide && shape.order == Order::kRows,
                [&, n = n, k = k] { return of(rows_16_apart(a, k), rows_16_apart(b, n)); })},
         {"the sums are rounded to half after each matrix instruction: which type has the "
          "accumulator?",
          [&, m = m, n = n, k = k] { return summed_in_halves(a, b, m, n, k); }},
         {"only the first 16 products of each element are summed: where are the other parts of A "
          "and B?",
          where(k > kSide, sum(0, kSide))},
         {"only the first 32 products of each element are summed: where are the other slabs?",
          where(k > 2 * kSide, sum(0, 2 * kSide))},
         {"only the first half of each slab is multiplied",
          where(k > 2 * kSide,
                [&, k = k] {
                    Floats left = a;
                    for (size_t i = 0; i < left.size(); ++i)
                        if (i % k % (2 * kSide) >= size_t(kSide)) left[i] = 0;
                    return of(left, b);
                })},
         {"only the last 16 products are in the sum: where are the sums cleared?",
          where(k > kSide, sum((k - 1) / kSide * kSide, k))},
         {"only the products of the last slab are in the sum: where are the sums cleared?",
          where(k > 2 * kSide, sum((k - 1) / (2 * kSide) * (2 * kSide), k))},
         {"the last products are missing: k is no multiple of 16",
          where(k > kSide && k % kSide, sum(0, k / kSide * kSide))},
         {"the last products are missing: k is no multiple of the slab's depth, 32",
          where(k > 2 * kSide && k % (2 * kSide), sum(0, k / (2 * kSide) * (2 * kSide)))},
         {"the last 16 products are missing", where(k > kSide, sum(0, k - kSide))},
         {"the first fragments are multiplied again and again: `first` is missing in an address",
          where(k > kSide, first_again(kSide))},
         {"each round multiplies the first slab again: `first` is missing in an index",
          where(k > 2 * kSide, first_again(2 * kSide))},
         {"the first part of each slab is multiplied twice, the second never",
          where(k > kSide,
                [&, m = m, n = n, k = k] {
                    Floats left(a.size()), right(b.size());
                    for (int p = 0; p < k; ++p) {
                        const int from = p / 32 * 32 + p % kSide;
                        for (int row = 0; row < m; ++row)
                            left[size_t(row) * k + p] = a[size_t(row) * k + from];
                        for (int col = 0; col < n; ++col)
                            right[size_t(p) * n + col] = b[size_t(from) * n + col];
                    }
                    return of(left, right);
                })},
         {"A and B have changed places: this is B A", where(square, [&] { return of(b, a); })},
         {"rows of A meet rows of B: B is read as if rows and columns were swapped",
          where(n == k, [&, n = n, k = k] { return of(a, turned(b, k, n)); })},
         {"columns of A meet columns of B: A is read as if rows and columns were swapped",
          where(m == k, [&, m = m, k = k] { return of(turned(a, m, k), b); })},
         {"the product is right, and its rows and columns are swapped",
          where(m == n, [&, m = m, n = n] { return turned(want.values, m, n); })},
         {"the sums are right, and each 16 x 16 of them have rows and columns swapped: how are "
          "they stored?",
          places([](int row, int col) {
              return std::pair(row / kSide * kSide + col % kSide,
                               col / kSide * kSide + row % kSide);
          })},
         {"the sums are right, and the quarters of each 64 x 64 have changed places",
          places([](int row, int col) {
              const int down = row % 64 / 32, across = col % 64 / 32;
              return std::pair(row - 32 * down + 32 * across, col - 32 * across + 32 * down);
          })},
         {"the first fragment of C is stored at the place of others, too",
          places([](int row, int col) {
              return std::pair(row / 32 * 32 + row % kSide, col / 32 * 32 + col % kSide);
          })}},
        [&](size_t i) { return 4 * want.tolerance[i]; });
}

}  // namespace
