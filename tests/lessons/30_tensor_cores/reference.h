// SPDX-License-Identifier: MIT
// The references of lesson 30's tests: halves and their layout in memory, products in double with
// their error bounds, and the results of common mistakes for the same matrices.
#pragma once

#include "cases/matrix_reference.h"
#include "tensor_cores.h"

namespace {

using wb::laid_out, wb::packed, wb::Product, wb::ProductMistakes, wb::transposed;
using Floats = std::vector<float>;
using Halves = std::vector<half>;
using Mistakes = ProductMistakes::List;

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
// Converts an output: a half that was never written becomes a float that was never written.
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

// Sizes, and the numbers of elements before the first one and after each row of each matrix.
struct Shape {
    int m, n, k;
    int a_gap = 0, b_gap = 0, c_gap = 0, before = 0;
    Order order = Order::kRows;  // of B
    // The layout of B in memory: the number of lines, and of elements in a line.
    int b_lines() const { return order == Order::kRows ? k : n; }
    int b_length() const { return order == Order::kRows ? n : k; }
    Sizes sizes() const { return {m, n, k, k + a_gap, b_length() + b_gap, n + c_gap}; }
};

// a: m x k, b: k x n, both without gaps.
inline Product product(const Floats& a, const Floats& b, int m, int n, int k) {
    return wb::product(a, b, m, n, k, 0, k, (k + 1) * 0x1p-23);
}

// The sums of a kernel that rounds them to half after every matrix instruction.
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

// Reads the rows of each fragment as if they began 16 elements apart, with 0 after the end.
inline Floats rows_16_apart(const Floats& x, int cols) {
    Floats out(x.size(), 0.0f);
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t row = i / cols, col = i % cols;
        const size_t from = (row / kSide * cols + row % kSide + col / kSide) * kSide + col % kSide;
        if (from < x.size()) out[i] = x[from];
    }
    return out;
}

// Elements are read at wrong addresses.
inline Mistakes misread_inputs(const ProductMistakes& with, const Floats& a, const Floats& b,
                               const Shape& shape) {
    const auto where = ProductMistakes::where;
    const bool no_gaps = !shape.a_gap && !shape.b_gap;
    const bool in_a = no_gaps && shape.k > kSide;
    const bool in_b = no_gaps && shape.n > kSide && shape.order == Order::kRows;
    const auto [n, k] = std::pair(shape.n, shape.k);
    return {
        {"rows of A are read as if they began 16 apart: ldm is the distance of two rows, a pitch",
         where(in_a, [&, k = k] { return with.of(rows_16_apart(a, k), b); })},
        {"rows of B are read as if they began 16 apart: ldm is the distance of two rows, a pitch",
         where(in_b, [&, n = n] { return with.of(a, rows_16_apart(b, n)); })},
        {"rows of A and B are read as if they began 16 apart: ldm is the distance of two rows, a "
         "pitch",
         where(in_a && in_b,
               [&, n = n, k = k] { return with.of(rows_16_apart(a, k), rows_16_apart(b, n)); })}};
}

// Some of the k products of each element are not summed, or not once.
inline Mistakes missing_products(const ProductMistakes& with, int k) {
    const auto where = ProductMistakes::where;
    constexpr int kSlab = 2 * kSide;
    const auto first_again = [&](int side) {  // of each fragment or slab
        return with.instead([side](int p) { return p % side; });
    };
    return {
        {"only the first 16 products of each element are summed: where are the other parts of A "
         "and B?",
         where(k > kSide, with.sum(0, kSide))},
        {"only the first 32 products of each element are summed: where are the other slabs?",
         where(k > kSlab, with.sum(0, kSlab))},
        {"only the first half of each slab is multiplied",
         where(k > kSlab, with.only([](int p) { return p % kSlab < kSide; }))},
        {"only the last 16 products are in the sum: where are the sums cleared?",
         where(k > kSide, with.sum((k - 1) / kSide * kSide, k))},
        {"only the products of the last slab are in the sum: where are the sums cleared?",
         where(k > kSlab, with.sum((k - 1) / kSlab * kSlab, k))},
        {"the last products are missing: k is no multiple of 16",
         where(k > kSide && k % kSide, with.sum(0, k / kSide * kSide))},
        {"the last products are missing: k is no multiple of the slab's depth, 32",
         where(k > kSlab && k % kSlab, with.sum(0, k / kSlab * kSlab))},
        {"the last 16 products are missing", where(k > kSide, with.sum(0, k - kSide))},
        {"the first fragments are multiplied again and again: `first` is missing in an address",
         where(k > kSide, first_again(kSide))},
        {"each round multiplies the first slab again: `first` is missing in an index",
         where(k > kSlab, first_again(kSlab))},
        {"the first part of each slab is multiplied twice, the second never",
         where(k > kSide, with.instead([](int p) { return p / kSlab * kSlab + p % kSide; }))}};
}

// The sums are right and stored at wrong places.
inline Mistakes misplaced_sums(const ProductMistakes& with) {
    return {{"the sums are right, and each 16 x 16 of them have rows and columns swapped: how are "
             "they stored?",
             with.swapped_in(kSide)},
            {"the sums are right, and the quarters of each 64 x 64 have changed places",
             with.moved([](int row, int col) {
                 const int down = row % 64 / 32, across = col % 64 / 32;
                 return std::pair(row - 32 * down + 32 * across, col - 32 * across + 32 * down);
             })},
            {"the first fragment of C is stored at the place of others, too",
             with.moved([](int row, int col) {
                 return std::pair(row / 32 * 32 + row % kSide, col / 32 * 32 + col % kSide);
             })}};
}

// `more`: mistakes of the same values that only the caller can make.
inline void recognize_mistakes(const Floats& got, const Product& want, const Floats& a,
                               const Floats& b, const Shape& shape,
                               const std::function<Mistakes(const ProductMistakes&)>& more) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    const ProductMistakes with(a, b, want.values, m, n, k);
    const Mistakes in_halves{
        {"the sums are rounded to half after each matrix instruction: of which type is the "
         "accumulator?",
         [&, m = m, n = n, k = k] { return summed_in_halves(a, b, m, n, k); }}};
    wb::recognize<float>(got,
                         want.values,
                         ProductMistakes::joined({more(with),
                                                  misread_inputs(with, a, b, shape),
                                                  in_halves,
                                                  missing_products(with, k),
                                                  with.swapped_matrices(),
                                                  misplaced_sums(with)}),
                         [&](size_t i) { return 4 * want.bounds[i]; });
}

}  // namespace
