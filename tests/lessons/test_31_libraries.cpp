// SPDX-License-Identifier: MIT
// Lesson 31: a product, a linear system, singular values and a filter by libraries, by rows, in one
// stream, and with every status checked.
//
// Tolerances: sums of k products as in lesson 29; residuals of a system and of a decomposition, by
// the bounds in libraries.h, which any backward stable method meets; transforms by 8 2^-24 log2(n)
// times the norm of the samples. The data are random, with NaN in the gaps between rows.
#include "reference_31_libraries.h"

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
    // With beta = 0, C holds the filling of an array that was never written.
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
        {{"alpha and beta have changed places: alpha belongs to the product, beta to what C held",
          where(beta != 0, [&] { return sum_of(sums, beta, held, alpha); })},
         {"alpha is not used: the product is taken once",
          where(alpha != 1, [&] { return sum_of(sums, 1, held, beta); })},
         {"beta is not used: what C held is lost",
          where(beta != 0, [&] { return sum_of(sums, alpha, held, 0); })},
         {"beta is not used: what C held is added once",
          where(beta != 0, [&] { return sum_of(sums, alpha, held, 1); })},
         {"neither alpha nor beta is used: this is A B alone",
          where(beta != 0 && alpha != 1, [&] { return sum_of(sums, 1, held, 0); })},
         {"this is B A: cuBLAS takes each row for a column, so that it sees A^T, B^T and C^T, and "
          "C^T = B^T A^T",
          where(square, [&, n = n] { return finish(product(b, a, n, n, n)); })},
         {"rows are taken for columns in all three matrices, with the sizes of A, B and C as they "
          "are: cuBLAS sees A^T, B^T and C^T, which have other sizes",
          where(packed_rows && !square,
                [&, m = m, n = n, k = k] {
                    const Doubles by_columns = product(turned(a, k, m), turned(b, n, k), m, n, k);
                    return finish(turned(by_columns, m, n));
                })},
         {"the product is right, but stored by columns: C^T should be asked for, not C",
          where(packed_rows, [&, m = m, n = n] { return finish(turned(sums, m, n)); })},
         {"rows of A meet rows of B: B is transposed, and it is not by itself",
          where(n == k,
                [&, m = m, n = n, k = k] { return finish(product(a, turned(b, k, n), m, n, k)); })},
         {"columns of A meet columns of B: A is transposed, and it is not by itself",
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
    CHECK_SAID(solved, "solve() returned false, and A is not singular");
    const Floats got_x = d_b.download();
    const Floats got = to_floats(product(got_x, turned(a, n, n), count, n, n));
    const Doubles sums = product(sizes_of(got_x), sizes_of(turned(a, n, n)), count, n, n);
    const auto tolerance = [&](size_t i) { return 8 * n * kRounding * sums[i] + 1e-30; };
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
        {{"A^T x = b is solved: cuSOLVER takes rows for columns, so that its factors are those of "
          "A^T",
          [&] { return if_solves(turned(a, n, n)); }},
         {"the inverse of A is computed, and multiplied with b: its rounding errors are those of a "
          "nearly singular matrix. Solve with the factors",
          [&] { return multiplies && near(got_x, x, 1e3) ? got : Floats(); }},
         {"only the first right-hand side is solved",
          [&, n = n] {
              if (count < 2) return Floats();
              Floats first = b;
              std::copy_n(x.begin(), n, first.begin());
              return near(got_x, first, scale) ? got : Floats();
          }},
         {"the right-hand sides are read by columns: each lies in one piece, one after the other",
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
    CHECK_SAID(converged, "singular_values() returned false, and this converges");
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
         {"the rows of U are its columns: it is stored by columns",
          [&] { return if_rebuilds(turned(u, n, n), vt); }},
         {"V is stored in place of V^T", [&] { return if_rebuilds(u, turned(vt, n, n)); }},
         {"U and V^T are both stored by columns",
          [&] { return if_rebuilds(turned(u, n, n), turned(vt, n, n)); }},
         {"U and V^T have changed places: cuSOLVER takes rows for columns, so that it decomposes "
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
        {{"everything is `samples` times too large: cuFFT's transforms are not normalised",
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
         {"the low frequencies are removed, and the high ones stay",
          [&] {
              Floats rest = in;
              for (size_t i = 0; i < rest.size(); ++i) rest[i] -= want[i];
              return rest;
          }}},
        [=](size_t) { return 8 * tolerance; });
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

// A stream for the student's own handles, which are closed at the end.
class Opened {
public:
    explicit Opened(int samples) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        libraries_ = open_libraries(stream_, samples);
    }
    ~Opened() {
        try {
            close_libraries(libraries_);
        } catch (const std::exception&) {
        }
        cudaStreamDestroy(stream_);
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    const Libraries& get() const { return libraries_; }
    cudaStream_t stream() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
    Libraries libraries_{};
};

std::string stream_in_words(cudaStream_t got, cudaStream_t want) {
    return got == want ? "the stream of open_libraries()"
           : got       ? "another stream"
                       : "the default stream";
}

// All work of a function is done in the stream of its libraries.
void check_stream(const Libraries& libraries, const std::function<void()>& work) {
    wb::LibraryWatch watch;
    wb::CallWatch cuda;
    work();
    std::string stray;
    for (const wb::LibraryCall& call : watch.calls)
        if (call.computes && call.stream != libraries.stream && stray.empty())
            stray = call.name + " works in " + stream_in_words(call.stream, libraries.stream) +
                    ": its handle was never told of libraries.stream";
    for (const wb::CudaCall& call : cuda.calls) {
        const bool is_launch = call.name.find("Launch") != std::string::npos;
        const bool is_copy = call.name.find("Memcpy") != std::string::npos ||
                             call.name.find("Memset") != std::string::npos;
        if ((is_launch || is_copy) && call.stream != libraries.stream && stray.empty())
            stray = (is_launch ? "a kernel is launched" : call.name + " works") + " in " +
                    stream_in_words(call.stream, libraries.stream);
    }
    CHECK_SAID(stray.empty(), stray);
    CHECK_SAID(watch.computed() != "none", "no library is called: where is the work done?");
}

}  // namespace

TEST_CASE("task 1: makes handles and plans", "[task1]") {
    const Opened opened(100);
    const Libraries& libraries = opened.get();
    CHECK_SAID(libraries.blas != nullptr, "libraries.blas is null: no handle was made");
    CHECK_SAID(libraries.solver != nullptr, "libraries.solver is null: no handle was made");
    REQUIRE(libraries.forward != libraries.inverse);
    CHECK(libraries.stream == opened.stream());
    CHECK(libraries.samples == 100);
    // Each plan is used once, and is what it should be. Whatever stream they work in, the steps are
    // in order: streams are another test's.
    const Floats in = wb::random_floats(100, 1);
    InStream d_in(in, opened.stream()), d_out(100, opened.stream());
    Scratch<cufftComplex> spectrum(51, opened.stream());
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(cufftExecR2C(libraries.forward, d_in.get(), spectrum.get()) == CUFFT_SUCCESS);
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(cufftExecC2R(libraries.inverse, spectrum.get(), d_out.get()) == CUFFT_SUCCESS);
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK_ARRAYS(
        d_out.download(), times(Doubles(in.begin(), in.end()), 100), [](size_t) { return 1e-3; });
}

TEST_CASE("task 1: all four work in the stream", "[task1]") {
    const Opened opened(64);
    const auto& streams = wb::LibraryWatch::streams();
    const auto stream_of = [&](auto handle) {
        const auto found = streams.find(wb::library_detail::number(handle));
        return stream_in_words(found == streams.end() ? nullptr : found->second, opened.stream());
    };
    const std::string want = "the stream of open_libraries()";
    const std::string blas = stream_of(opened.get().blas), solver = stream_of(opened.get().solver);
    const std::string forward = stream_of(opened.get().forward);
    const std::string inverse = stream_of(opened.get().inverse);
    CHECK_SAID(blas == want, "cuBLAS works in " << blas << ", and should in " << want);
    CHECK_SAID(solver == want, "cuSOLVER works in " << solver << ", and should in " << want);
    CHECK_SAID(forward == want,
               "the forward plan works in " << forward << ", and should in " << want);
    CHECK_SAID(inverse == want,
               "the inverse plan works in " << inverse << ", and should in " << want);
}

TEST_CASE("task 1: a refused call is an exception", "[task1]") {
    check_failing_library_calls("open_libraries", [] { Opened opened(32); });
    CHECK_SAID(throws_library_error([] { Opened opened(-1); }),
               "cuFFT makes no plan of -1 samples, and open_libraries() returns as if it had");
}

TEST_CASE("task 2: multiplies square matrices", "[task2]") {
    for (const int n : {2, 31, 32, 33, 64, 100}) check_product({n, n, n, 1.5f, 0.5f});
}

TEST_CASE("task 2: multiplies wide and tall matrices", "[task2]") {
    for (const Shape& shape : {Shape{4, 4, 8},
                               {1, 1, 1},
                               {1, 1, 300},
                               {1, 70, 1},
                               {70, 1, 1},
                               {33, 65, 17},
                               {65, 17, 33},
                               {17, 33, 65},
                               {128, 3, 64}})
        check_product(shape);
}

TEST_CASE("task 2: scales the product, and adds to what C held", "[task2]") {
    check_product({20, 20, 20, 2.5f, -0.5f});
    check_product({33, 50, 40, 0.75f, 3});
    check_product({33, 50, 40, -1, 1});
}

TEST_CASE("task 2: multiplies parts of larger matrices", "[task2]") {
    check_product({20, 20, 20, 1, 0, 4, 0, 0});
    check_product({20, 20, 20, 1, 0, 0, 5, 0});
    check_product({20, 20, 20, 1, 0, 0, 0, 6});
    check_product({33, 65, 40, 2, 3, 31, 1, 95});
}

TEST_CASE("task 2: works in the stream", "[task2]") {
    const Libraries& libraries = libraries_for(16);
    const Floats one = wb::random_floats(64, 9);
    InStream d_a(one, libraries.stream), d_b(one, libraries.stream), d_c(64, libraries.stream);
    check_stream(libraries, [&] {
        multiply(libraries, {8, 8, 8, 8, 8, 8}, 1, d_a.get(), d_b.get(), 0, d_c.get());
    });
}

TEST_CASE("task 2: a refused call is an exception", "[task2]") {
    const Libraries& libraries = libraries_for(16);
    const Floats one = wb::random_floats(64, 9);
    InStream d_a(one, libraries.stream), d_b(one, libraries.stream), d_c(64, libraries.stream);
    const auto with = [&](Sizes sizes) {
        multiply(libraries, sizes, 1, d_a.get(), d_b.get(), 0, d_c.get());
    };
    check_failing_library_calls("multiply", [&] { with({8, 8, 8, 8, 8, 8}); });
    CHECK_SAID(throws_library_error([&] {
                   with({8, 8, 8, 8, 7, 8});
               }),
               "cuBLAS refuses rows of 8 floats that begin 7 floats apart, and multiply() returns "
               "as if it had multiplied");
}

TEST_CASE("task 3: solves systems", "[task3]") {
    for (const int n : {1, 2, 17, 32, 33, 100}) check_solution(matrix_of_condition(n, 1, n), n, 1);
}

TEST_CASE("task 3: solves for many right-hand sides", "[task3]") {
    check_solution(matrix_of_condition(20, 1, 1), 20, 20);
    check_solution(matrix_of_condition(33, 1, 2), 33, 3);
    check_solution(matrix_of_condition(5, 1, 3), 5, 100);
}

TEST_CASE("task 3: solves systems that need another order of rows", "[task3]") {
    // Without an exchange of rows, the first step divides by 0.
    const int n = 10;
    Floats a = matrix_of_condition(n, 1, 7);
    a[0] = 0;
    check_solution(a, n, 2);
}

TEST_CASE("task 3: solves nearly singular systems", "[task3]") {
    for (const int n : {8, 24, 40}) check_solution(matrix_of_condition(n, 5, 10 + n), n, 2);
}

TEST_CASE("task 3: says when a matrix is singular", "[task3]") {
    const Libraries& libraries = libraries_for(16);
    for (const int n : {1, 2, 20}) {
        CAPTURE(n);
        Floats a = wb::random_floats(size_t(n) * n, 61);
        for (int i = 0; i < n; ++i) a[size_t(n - 1) * n + i] = a[size_t(i) * n + n - 1] = 0;
        const Floats b = wb::random_floats(n, 62);
        InStream d_a(a, libraries.stream), d_b(b, libraries.stream);
        const bool solved = solve(libraries, n, 1, d_a.get(), d_b.get());
        CHECK_SAID(!solved,
                   "A has a row of zeros, and solve() returned true: cuSOLVER says so in devInfo, "
                   "not in its status");
        if (!solved) wb::check_unchanged(d_b.download(), b);
    }
}

TEST_CASE("task 3: works in the stream", "[task3]") {
    const Libraries& libraries = libraries_for(16);
    InStream d_a(matrix_of_condition(8, 1, 5), libraries.stream);
    InStream d_b(wb::random_floats(8, 6), libraries.stream);
    check_stream(libraries, [&] { solve(libraries, 8, 1, d_a.get(), d_b.get()); });
}

TEST_CASE("task 3: a refused call is an exception", "[task3]") {
    const Libraries& libraries = libraries_for(16);
    const Floats a = matrix_of_condition(8, 1, 5);
    check_failing_library_calls("solve", [&] {
        InStream d_a(a, libraries.stream), d_b(wb::random_floats(8, 6), libraries.stream);
        solve(libraries, 8, 1, d_a.get(), d_b.get());
    });
}

TEST_CASE("task 4: decomposes random matrices", "[task4]") {
    for (const int n : {1, 2, 17, 32, 33, 64})
        check_decomposition(wb::random_floats(size_t(n) * n, 70 + n), n);
}

TEST_CASE("task 4: decomposes matrices with small singular values", "[task4]") {
    check_decomposition(matrix_of_condition(20, 6, 71), 20);
    check_decomposition(matrix_of_condition(64, 4, 72), 64);
    check_decomposition(Floats(9, 0.0f), 3);
}

TEST_CASE("task 4: works in the stream", "[task4]") {
    const Libraries& libraries = libraries_for(16);
    InStream d_a(wb::random_floats(64, 5), libraries.stream), d_u(64, libraries.stream);
    InStream d_s(8, libraries.stream), d_vt(64, libraries.stream);
    check_stream(libraries, [&] {
        singular_values(libraries, 8, d_a.get(), d_u.get(), d_s.get(), d_vt.get());
    });
}

TEST_CASE("task 4: a refused call is an exception", "[task4]") {
    const Libraries& libraries = libraries_for(16);
    check_failing_library_calls("singular_values", [&] {
        InStream d_a(wb::random_floats(64, 5), libraries.stream), d_u(64, libraries.stream);
        InStream d_s(8, libraries.stream), d_vt(64, libraries.stream);
        singular_values(libraries, 8, d_a.get(), d_u.get(), d_s.get(), d_vt.get());
    });
}

TEST_CASE("task 5: keeps low frequencies", "[task5]") {
    for (const auto& [samples, keep] : {std::pair{16, 3}, {100, 10}, {1000, 20}, {1024, 200}})
        check_filter(samples, keep);
}

TEST_CASE("task 5: takes any number of samples", "[task5]") {
    for (const auto& [samples, keep] :
         {std::pair{1, 1}, {2, 1}, {3, 1}, {15, 5}, {17, 5}, {511, 100}, {513, 257}, {4099, 1000}})
        check_filter(samples, keep);
}

TEST_CASE("task 5: keeps everything, and nothing", "[task5]") {
    for (const int samples : {16, 17, 1000}) check_filter(samples, samples / 2 + 1);
    for (const int samples : {16, 17, 1000}) check_filter(samples, 0);
}

TEST_CASE("task 5: works in the stream", "[task5]") {
    const Libraries& libraries = libraries_for(64);
    InStream d_in(wb::random_floats(64, 5), libraries.stream), d_out(64, libraries.stream);
    check_stream(libraries, [&] { low_pass(libraries, 5, d_in.get(), d_out.get()); });
}

TEST_CASE("task 5: a refused call is an exception", "[task5]") {
    const Libraries& libraries = libraries_for(64);
    InStream d_in(wb::random_floats(64, 5), libraries.stream), d_out(64, libraries.stream);
    const auto work = [&] { low_pass(libraries, 5, d_in.get(), d_out.get()); };
    check_failing_library_calls("low_pass", work);
    size_t launches;
    {
        wb::CallWatch watch;
        work();
        launches = watch.launches();
    }
    if (launches) wb::check_refused_launch("low_pass", work);  // libraries can do it, too
}

TEST_CASE("efficient: handles and plans are made once", "[efficient][task1][task2][task3][task4]"
                                                        "[task5]") {
    const Opened opened(64);
    const Libraries& libraries = opened.get();
    const Floats a = matrix_of_condition(8, 1, 5);
    wb::LibraryWatch watch;
    for (int round = 0; round < 12; ++round) {
        InStream d_a(a, opened.stream()), d_b(a, opened.stream()), d_c(a, opened.stream());
        InStream d_s(8, opened.stream()), d_vt(64, opened.stream());
        multiply(libraries, {8, 8, 8, 8, 8, 8}, 1, d_a.get(), d_b.get(), 0, d_c.get());
        low_pass(libraries, 5, d_b.get(), d_c.get());
        singular_values(libraries, 8, d_b.get(), d_c.get(), d_s.get(), d_vt.get());
        solve(libraries, 8, 1, d_a.get(), d_s.get());
    }
    const size_t handles_made = watch.made();
    CHECK_SAID(handles_made == 0,
               "twelve rounds of all functions make " << handles_made
                                                      << " handles and plans, want none");
}

TEST_CASE("efficient: a product is one call, without copies", "[efficient][task2]") {
    const Libraries& libraries = libraries_for(16);
    const int m = 64, n = 96, k = 128;
    InStream d_a(wb::random_floats(m * k, 1), libraries.stream);
    InStream d_b(wb::random_floats(k * n, 2), libraries.stream), d_c(m * n, libraries.stream);
    const auto counters = wb::count([&] {
        multiply(libraries, {m, n, k, k, n, n}, 1, d_a.get(), d_b.get(), 0, d_c.get());
    });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_store_bytes == 4 * m * n);
    CHECK(counters->global_load_bytes <= 4 * (m * k + k * n));
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_allocations == 0);
}

TEST_CASE("efficient: a system is solved without its inverse", "[efficient][task3]") {
    const Libraries& libraries = libraries_for(16);
    const int n = 128;
    InStream d_a(matrix_of_condition(n, 1, 8), libraries.stream);
    InStream d_b(wb::random_floats(n, 9), libraries.stream);
    wb::LibraryWatch watch;
    const auto counters = wb::count([&] { solve(libraries, n, 1, d_a.get(), d_b.get()); });
    NEED_COUNTERS(counters);
    INFO("calls that compute: " << watch.computed());
    CHECK(counters->global_store_bytes >= 4 * n);
    // The factors, the solution and workspace. An inverse is as large as A, once more.
    CHECK(counters->global_store_bytes <= 4 * 2 * n * n);
    CHECK(counters->launches <= 4);
    CHECK(counters->device_to_host_bytes <= 16);
}

TEST_CASE("efficient: singular values take one call, without copies", "[efficient][task4]") {
    const Libraries& libraries = libraries_for(16);
    const int n = 64;
    InStream d_a(wb::random_floats(n * n, 5), libraries.stream), d_u(n * n, libraries.stream);
    InStream d_s(n, libraries.stream), d_vt(n * n, libraries.stream);
    const auto counters = wb::count(
        [&] { singular_values(libraries, n, d_a.get(), d_u.get(), d_s.get(), d_vt.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes <= 16);
}

TEST_CASE("efficient: a filter is two transforms and a kernel", "[efficient][task5]") {
    const int samples = 1024;
    const Libraries& libraries = libraries_for(samples);
    InStream d_in(wb::random_floats(samples, 5), libraries.stream);
    InStream d_out(samples, libraries.stream);
    wb::CallWatch watch;
    const auto counters = wb::count([&] { low_pass(libraries, 20, d_in.get(), d_out.get()); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches <= 3);
    // Samples, and thrice the spectrum: out of one transform, through the kernel, into the other.
    CHECK(counters->global_store_bytes <= 4 * samples + 2 * 8 * (samples / 2 + 1));
    CHECK(counters->global_load_bytes <= 4 * samples + 2 * 8 * (samples / 2 + 1));
    CHECK(counters->double_instructions == 0);
    CHECK(counters->device_to_host_bytes + counters->host_to_device_bytes == 0);
}

TEST_CASE("efficient: products and filters do not wait for the device",
          "[efficient][task2][task5]") {
    const Libraries& libraries = libraries_for(64);
    const Floats one = wb::random_floats(64, 9);
    InStream d_a(one, libraries.stream), d_b(one, libraries.stream), d_c(64, libraries.stream);
    wb::CallWatch watch;
    wb::LibraryWatch libraries_watch;
    multiply(libraries, {8, 8, 8, 8, 8, 8}, 1, d_a.get(), d_b.get(), 0, d_c.get());
    low_pass(libraries, 5, d_a.get(), d_c.get());
    std::string waits;
    for (const wb::CudaCall& call : watch.calls)
        if (call.name == "cudaDeviceSynchronize" || call.name == "cudaStreamSynchronize" ||
            call.name == "cudaMemcpy" || call.name == "cudaMalloc" || call.name == "cudaFree")
            waits = call.name;
    for (const wb::LibraryCall& call : libraries_watch.calls)  // which calls the runtime itself
        if (call.name.find("Destroy") != std::string::npos) waits = call.name;
    CHECK_SAID(waits.empty(),
               waits << " waits for the device: what comes next in the stream waits by itself");
}
