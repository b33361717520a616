// SPDX-License-Identifier: MIT
// Matrix products on the host, for the tests of lessons 29 and 30: C = A B with its error bound,
// matrices as they are stored in memory, and the results of common mistakes for the same matrices.
// Matrices are vectors, row after row.
#pragma once

#include <algorithm>
#include <limits>

#include "lesson_test.h"

namespace wb {
namespace {

// `rows` x `cols` values as they are stored in memory: NaN before the first and in the gaps between
// rows.
inline std::vector<float> laid_out(const std::vector<float>& values, int rows, int cols, int pitch,
                                   int before) {
    std::vector<float> all(size_t(before) + size_t(rows) * pitch,
                           std::numeric_limits<float>::quiet_NaN());
    for (int row = 0; row < rows; ++row)
        std::copy_n(
            values.begin() + size_t(row) * cols, cols, all.begin() + before + size_t(row) * pitch);
    return all;
}

// The elements of a matrix without its gaps.
inline std::vector<float> packed(const std::vector<float>& all, int rows, int cols, int pitch,
                                 int before) {
    std::vector<float> values;
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            values.push_back(all[before + size_t(row) * pitch + col]);
    return values;
}

inline std::vector<float> transposed(const std::vector<float>& x, int rows, int cols) {
    std::vector<float> out(x.size());
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            out[size_t(col) * rows + row] = x[size_t(row) * cols + col];
    return out;
}

struct Product {
    std::vector<float> values;
    std::vector<double> bounds;  // how far an element may be off

    // For CHECK_MATRIX. An infinite element must be exactly that.
    std::function<double(size_t)> tolerance() const {
        return [this](size_t i) { return std::isfinite(values[i]) ? bounds[i] : 0.0; };
    }
};

// a: m x k, b: k x n. Sums in double the products [from, to) of each element. The error of an
// element is at most `rounding` times the sum of the products' magnitudes.
inline Product product(const std::vector<float>& a, const std::vector<float>& b, int m, int n,
                       int k, int from, int to, double rounding) {
    Product out{std::vector<float>(size_t(m) * n), std::vector<double>(size_t(m) * n)};
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
            out.bounds[size_t(row) * n + col] = rounding * magnitudes[col];
        }
    }
    return out;
}

// The same matrix with `gap` elements after each row, which must still hold `filling`.
inline Product with_gaps(const Product& c, int rows, int cols, int gap, float filling) {
    const size_t pitch = size_t(cols) + gap;
    Product out{std::vector<float>(rows * pitch, filling), std::vector<double>(rows * pitch)};
    for (int row = 0; row < rows; ++row) {
        std::copy_n(c.values.begin() + size_t(row) * cols, cols, out.values.begin() + row * pitch);
        std::copy_n(c.bounds.begin() + size_t(row) * cols, cols, out.bounds.begin() + row * pitch);
    }
    return out;
}

// Fails the test if NaN before the first row of C or between rows has been overwritten.
inline void check_gaps_unchanged(const std::vector<float>& c, int cols, int pitch, int before) {
    size_t spoilt = 0;
    for (size_t i = 0; i < c.size(); ++i) {
        const bool inside = i >= size_t(before) && int((i - before) % pitch) < cols;
        spoilt += !inside && !std::isnan(c[i]);
    }
    const bool gaps_unchanged = spoilt == 0;
    INFO(spoilt << " floats between the rows of C were overwritten");
    CHECK(gaps_unchanged);
}

// The results of mistakes in C = A B: the entries that lessons have in common, and the parts of
// others. Refers to the matrices, which must live as long as the entries.
class ProductMistakes {
public:
    using Make = std::function<std::vector<float>()>;
    using List = std::vector<Mistake<float>>;

    // a: m x k, b: k x n, c: their product.
    ProductMistakes(const std::vector<float>& a, const std::vector<float>& b,
                    const std::vector<float>& c, int m, int n, int k)
        : a_(a), b_(b), c_(c), m_(m), n_(n), k_(k) {}

    static List joined(std::initializer_list<List> parts) {
        List all;
        for (const List& part : parts) all.insert(all.end(), part.begin(), part.end());
        return all;
    }
    // If a mistake changes nothing for these sizes, its result is empty and matches no answer.
    static Make where(bool differs, Make make) {
        return differs ? make : Make([] { return std::vector<float>(); });
    }

    // The product of other matrices of the same sizes.
    std::vector<float> of(const std::vector<float>& left, const std::vector<float>& right) const {
        return product(left, right, m_, n_, k_, 0, k_, 0).values;
    }
    // Only the products [from, to) are summed.
    Make sum(int from, int to) const {
        return [=, this] { return product(a_, b_, m_, n_, k_, from, to, 0).values; };
    }
    // Only the products p are summed for which keep(p).
    Make only(std::function<bool(int)> keep) const {
        return [=, this] {
            std::vector<float> left = a_;
            for (size_t i = 0; i < left.size(); ++i)
                if (!keep(int(i % k_))) left[i] = 0;
            return of(left, b_);
        };
    }
    // Product from(p) is summed in place of product p.
    Make instead(std::function<int(int)> from) const {
        return [=, this] {
            std::vector<float> left(a_.size()), right(b_.size());
            for (int p = 0; p < k_; ++p) {
                for (int row = 0; row < m_; ++row)
                    left[size_t(row) * k_ + p] = a_[size_t(row) * k_ + from(p)];
                for (int col = 0; col < n_; ++col)
                    right[size_t(p) * n_ + col] = b_[size_t(from(p)) * n_ + col];
            }
            return of(left, right);
        };
    }
    // The right sums at wrong places: from(row, col) says which element of C is stored there. Sums
    // without a place in C are zero.
    Make moved(std::function<std::pair<int, int>(int, int)> from) const {
        return [=, this] {
            std::vector<float> out(c_.size(), 0.0f);
            for (int row = 0; row < m_; ++row)
                for (int col = 0; col < n_; ++col) {
                    const auto [r, q] = from(row, col);
                    if (r < m_ && q < n_) out[size_t(row) * n_ + col] = c_[size_t(r) * n_ + q];
                }
            return out;
        };
    }
    // Each `side` x `side` elements of C have rows and columns swapped.
    Make swapped_in(int side) const {
        return moved([side](int row, int col) {
            return std::pair(row / side * side + col % side, col / side * side + row % side);
        });
    }

    // Whole matrices that are swapped or transposed.
    List swapped_matrices() const {
        return {
            {"A and B have changed places: this is B A",
             where(m_ == n_ && n_ == k_, [this] { return of(b_, a_); })},
            {"rows of A are multiplied by rows of B: B is read with rows and columns swapped",
             where(n_ == k_, [this] { return of(a_, transposed(b_, k_, n_)); })},
            {"columns of A are multiplied by columns of B: A is read with rows and columns swapped",
             where(m_ == k_, [this] { return of(transposed(a_, m_, k_), b_); })},
            {"the product is right, but its rows and columns are swapped",
             where(m_ == n_, [this] { return transposed(c_, m_, n_); })}};
    }
    // C held these numbers before.
    List added_to(const std::vector<float>& held) const {
        return {
            {"the product is added to the old contents of C: it should replace them", [&, this] {
                 std::vector<float> sums = held;
                 for (size_t i = 0; i < sums.size(); ++i) sums[i] += c_[i];
                 return sums;
             }}};
    }

private:
    const std::vector<float>&a_, &b_, &c_;
    int m_, n_, k_;
};

}  // namespace
}  // namespace wb
