// SPDX-License-Identifier: MIT
// Checks of the values of lesson 31: each runs one function on random data, compares the result
// with reference.h, and recognises common mistakes.
#pragma once

#include "reference.h"

namespace {

struct Shape {
    int m, n, k;
    float alpha = 1, beta = 0;
    int a_gap = 0, b_gap = 0, c_gap = 0;
    Sizes sizes() const { return {m, n, k, k + a_gap, n + b_gap, n + c_gap}; }
};

void check_product(const Shape& shape) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    const auto [alpha, beta] = std::pair(shape.alpha, shape.beta);
    const Sizes sizes = shape.sizes();
    CAPTURE(m, n, k, alpha, beta, sizes.a_pitch, sizes.b_pitch, sizes.c_pitch);
    const Libraries& libraries = libraries_for(16);
    const Floats a = wb::random_floats(size_t(m) * k, 100 + m);
    const Floats b = wb::random_floats(size_t(k) * n, 200 + n);
    const Floats held = wb::random_floats(size_t(m) * n, 300 + k, 1, 2);
    const Floats in_a = laid_out(a, m, k, sizes.a_pitch), in_b = laid_out(b, k, n, sizes.b_pitch);
    InStream d_a(in_a, libraries.stream), d_b(in_b, libraries.stream);
    // With beta = 0 the memory of C is not written before the call.
    InStream d_c = beta == 0 ? InStream(size_t(m) * sizes.c_pitch, libraries.stream)
                             : InStream(laid_out(held, m, n, sizes.c_pitch), libraries.stream);
    multiply(libraries, sizes, alpha, d_a.get(), d_b.get(), beta, d_c.get());
    const Floats c = d_c.download(), got = packed(c, m, n, sizes.c_pitch);
    const Doubles sums = product(a, b, m, n, k),
                  sizes_of_sums = product(sizes_of(a), sizes_of(b), m, n, k);
    const Floats want = sum_of(sums, alpha, held, beta);
    const auto tolerance = [&](size_t i) {
        return (k + 2) * kRounding *
               (std::fabs(alpha) * sizes_of_sums[i] + std::fabs(beta * held[i]));
    };
    CHECK_MATRIX(n, got, want, tolerance);
    const auto where = [](bool applies, std::function<Floats()> values) {
        return [=] { return applies ? values() : Floats(); };
    };
    const bool packed_rows = !shape.a_gap && !shape.b_gap && !shape.c_gap;
    const bool square = m == n && n == k;
    const auto finish = [&](const Doubles& other) { return sum_of(other, alpha, held, beta); };
    wb::recognize<float>(
        got,
        want,
        {{"alpha and beta are swapped: alpha multiplies the product, beta the old contents of C",
          where(beta != 0, [&] { return sum_of(sums, beta, held, alpha); })},
         {"alpha is not used: the product is taken once",
          where(alpha != 1, [&] { return sum_of(sums, 1, held, beta); })},
         {"beta is not used: the old contents of C are lost",
          where(beta != 0, [&] { return sum_of(sums, alpha, held, 0); })},
         {"beta is not used: the old contents of C are added once",
          where(beta != 0, [&] { return sum_of(sums, alpha, held, 1); })},
         {"neither alpha nor beta is used: this is only A B",
          where(beta != 0 && alpha != 1, [&] { return sum_of(sums, 1, held, 0); })},
         {"this is B A: cuBLAS reads each row as a column, so it sees A^T, B^T and C^T, and "
          "C^T = B^T A^T",
          where(square, [&, n = n] { return finish(product(b, a, n, n, n)); })},
         {"A, B and C are passed as if they were stored by columns, with their own sizes: "
          "cuBLAS sees A^T, B^T and C^T, which have other sizes",
          where(packed_rows && !square,
                [&, m = m, n = n, k = k] {
                    const Doubles by_columns = product(turned(a, k, m), turned(b, n, k), m, n, k);
                    return finish(turned(by_columns, m, n));
                })},
         {"rows are read as if they had no gaps: the leading dimension is the pitch, not the "
          "length of a row",
          where(!packed_rows,
                [&, m = m, n = n, k = k] {
                    const Floats left(in_a.begin(), in_a.begin() + m * k);
                    const Floats right(in_b.begin(), in_b.begin() + k * n);
                    Floats all = beta == 0 ? Floats(size_t(m) * sizes.c_pitch, std::nanf(""))
                                           : laid_out(held, m, n, sizes.c_pitch);
                    const Floats before(all.begin(), all.begin() + m * n);
                    const Floats one = sum_of(product(left, right, m, n, k), alpha, before, beta);
                    std::copy(one.begin(), one.end(), all.begin());
                    return packed(all, m, n, sizes.c_pitch);
                })},
         {"the product is right, but stored by columns: ask cuBLAS for C^T, not for C",
          where(packed_rows, [&, m = m, n = n] { return finish(turned(sums, m, n)); })},
         {"rows of A are multiplied by rows of B: B is transposed once too often",
          where(n == k,
                [&, m = m, n = n, k = k] { return finish(product(a, turned(b, k, n), m, n, k)); })},
         {"columns of A are multiplied by columns of B: A is transposed once too often",
          where(
              m == k,
              [&, m = m, n = n, k = k] { return finish(product(turned(a, m, k), b, m, n, k)); })}},
        [&](size_t i) { return 4 * tolerance(i); });
    size_t spoilt = 0;
    for (size_t i = 0; i < c.size(); ++i)
        spoilt += int(i % sizes.c_pitch) >= n && !std::isnan(c[i]);
    CHECK_SAID(spoilt == 0, spoilt << " floats between the rows of C were overwritten");
    wb::check_unchanged(d_a.download(), in_a);
    wb::check_unchanged(d_b.download(), in_b);
    CHECK(d_c.intact());
}

// Residuals: A x is compared with b.
void check_solution(const Floats& a, int n, int count) {
    CAPTURE(n, count);
    const Libraries& libraries = libraries_for(16);
    // b = A x for some x, so that x stays moderate also where A is nearly singular.
    const Floats x = wb::random_floats(size_t(count) * n, 400 + n);
    const Floats b = to_floats(product(x, turned(a, n, n), count, n, n));
    InStream d_a(a, libraries.stream), d_b(b, libraries.stream);
    bool solved;
    std::string computed;
    {
        wb::LibraryWatch watch;
        solved = solve(libraries, n, count, d_a.get(), d_b.get());
        computed = watch.computed();
    }
    CHECK_SAID(solved, "solve() returned false, but A is not singular");
    const Floats got_x = d_b.download();
    const Floats got = to_floats(product(got_x, turned(a, n, n), count, n, n));
    const Doubles sums = product(sizes_of(got_x), sizes_of(turned(a, n, n)), count, n, n);
    // For each right-hand side the largest sum of a row: factors with an exchange of rows are
    // stable in this norm, and not row by row.
    const auto tolerance = [&, n = n](size_t i) {
        const auto first = sums.begin() + i / n * n;
        return 8 * n * kRounding * *std::max_element(first, first + n) + 1e-30;
    };
    const std::string text = wb::mismatch(got, b, tolerance, "A x, which should be b: element", n);
    CHECK_SAID(text.empty(), text);
    const double scale = 1e-3;
    const auto if_solves = [&](const Floats& other) {
        const Floats back = to_floats(product(got_x, turned(other, n, n), count, n, n));
        return near(back, b, scale) ? got : Floats();
    };
    const bool multiplies =
        computed.find("gemm") != std::string::npos || computed.find("gemv") != std::string::npos;
    wb::recognize<float>(
        got,
        b,
        {{"A^T x = b is solved: cuSOLVER reads rows as columns, so its factors are those of "
          "A^T",
          [&] { return if_solves(turned(a, n, n)); }},
         {"the inverse of A is computed and multiplied with b, which has large rounding errors for "
          "a "
          "nearly singular matrix: solve with the factors",
          [&] { return multiplies && near(got_x, x, 1e3) ? got : Floats(); }},
         {"only the first right-hand side is solved",
          [&, n = n] {
              if (count < 2) return Floats();
              Floats first = b;
              std::copy_n(x.begin(), n, first.begin());
              return near(got_x, first, scale) ? got : Floats();
          }},
         {"the right-hand sides are read by columns: they are stored one after the other",
          [&, n = n] {
              const Floats columns = turned(got_x, n, count);
              const Floats mixed = turned(b, n, count);
              return count > 1 && near(to_floats(product(columns, turned(a, n, n), count, n, n)),
                                       mixed,
                                       scale)
                         ? got
                         : Floats();
          }}},
        tolerance);
    CHECK(d_b.intact());
}

void check_decomposition(const Floats& a, int n) {
    CAPTURE(n);
    const Libraries& libraries = libraries_for(16);
    const size_t elements = size_t(n) * n;
    InStream d_a(a, libraries.stream), d_u(elements, libraries.stream), d_s(n, libraries.stream);
    InStream d_vt(elements, libraries.stream);
    const bool converged =
        singular_values(libraries, n, d_a.get(), d_u.get(), d_s.get(), d_vt.get());
    CHECK_SAID(converged, "singular_values() returned false, but this matrix converges");
    const Floats u = d_u.download(), s = d_s.download(), vt = d_vt.download();
    const Floats want_s = to_floats(singular_values_of(a, n));
    const double tolerance = 8 * (n + 4) * kRounding * (want_s[0] > 0 ? want_s[0] : 1);
    const auto same = [=](size_t) { return tolerance; };
    const std::string of_s = wb::mismatch(s, want_s, same, "singular value");
    CHECK_SAID(of_s.empty(), of_s);
    wb::recognize<float>(s,
                         want_s,
                         {{"the singular values are right, but the smallest comes first",
                           [&] { return Floats(want_s.rbegin(), want_s.rend()); }},
                          {"these are the squares of the singular values",
                           [&] {
                               Floats squares = want_s;
                               for (float& value : squares) value *= value;
                               return squares;
                           }}},
                         same);
    const double one = 8 * (n + 4) * kRounding;
    const Floats uu = to_floats(product(u, turned(u, n, n), n, n, n));
    const Floats vv = to_floats(product(vt, turned(vt, n, n), n, n, n));
    const auto exactly = [=](size_t) { return one; };
    const std::string of_u = wb::mismatch(uu, identity(n), exactly, "U U^T: element", n);
    CHECK_SAID(of_u.empty(), "U is not orthogonal:\n" + of_u);
    const std::string of_v = wb::mismatch(vv, identity(n), exactly, "V^T V: element", n);
    CHECK_SAID(of_v.empty(), "V^T is not orthogonal:\n" + of_v);
    const Floats got = rebuilt(u, s, vt, n);
    const std::string text = wb::mismatch(got, a, same, "U S V^T, which should be A: element", n);
    CHECK_SAID(text.empty(), text);
    const auto if_rebuilds = [&](const Floats& left, const Floats& right) {
        return near(rebuilt(left, s, right, n), a, 4 * tolerance) ? got : Floats();
    };
    wb::recognize<float>(
        got,
        a,
        {{"U S V^T is the transpose of A", [&] { return turned(a, n, n); }},
         {"U is stored by columns: it should be stored by rows",
          [&] { return if_rebuilds(turned(u, n, n), vt); }},
         {"V is stored in place of V^T", [&] { return if_rebuilds(u, turned(vt, n, n)); }},
         {"U and V^T are both stored by columns",
          [&] { return if_rebuilds(turned(u, n, n), turned(vt, n, n)); }},
         {"U and V^T are swapped: cuSOLVER reads rows as columns, so it decomposes "
          "A^T, which is V S U^T",
          [&] { return if_rebuilds(vt, u); }}},
        same);
    CHECK(d_u.intact());
    CHECK(d_s.intact());
    CHECK(d_vt.intact());
}

void check_filter(int samples, int keep) {
    CAPTURE(samples, keep);
    const Libraries& libraries = libraries_for(samples);
    const Floats in = wb::random_floats(samples, 500 + samples);
    InStream d_in(in, libraries.stream), d_out(samples, libraries.stream);
    low_pass(libraries, keep, d_in.get(), d_out.get());
    const Floats got = d_out.download();
    const Doubles exact = filtered(in, keep);
    double norm = 0;
    for (const float value : in) norm += double(value) * value;
    const double tolerance = 8 * kRounding * (std::log2(samples) + 2) * std::sqrt(norm);
    const auto same = [=](size_t) { return tolerance; };
    const Floats want = to_floats(exact);
    CHECK_ARRAYS(got, want, same);
    const int numbers = samples / 2 + 1;
    wb::recognize<float>(
        got,
        want,
        {{"everything is 0: in whole numbers 1 / samples is 0",
          [&] { return samples > 1 && keep > 0 ? Floats(samples, 0.0f) : Floats(); }},
         {"everything is `samples` times too large: cuFFT's transforms are not normalised",
          [&] { return times(exact, samples); }},
         {"everything is sqrt(samples) times too large",
          [&] { return times(exact, std::sqrt(samples)); }},
         {"everything is divided by `samples` twice", [&] { return times(exact, 1.0 / samples); }},
         {"everything is divided by the length of the spectrum, samples / 2 + 1: `samples` numbers "
          "were summed",
          [&] { return times(exact, double(samples) / numbers); }},
         {"one frequency too many stays",
          [&] { return to_floats(filtered(in, std::min(keep + 1, numbers))); }},
         {"one frequency too few stays",
          [&] { return to_floats(filtered(in, std::max(keep - 1, 0))); }},
         {"no frequency is removed", [&] { return keep < numbers ? in : Floats(); }},
         {"the low frequencies are removed instead of the high ones",
          [&] {
              Floats rest = in;
              for (size_t i = 0; i < rest.size(); ++i) rest[i] -= want[i];
              return rest;
          }}},
        [=](size_t) { return 8 * tolerance; });
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

}  // namespace
