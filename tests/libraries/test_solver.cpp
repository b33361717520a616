// SPDX-License-Identifier: MIT
// cuSOLVER: what was factorised comes back, and systems are solved.
#include <cusolverDn.h>

#include "handles.h"
#include "lab.h"

using namespace lab;

namespace {

constexpr auto kOk = CUSOLVER_STATUS_SUCCESS;

// A x, for a column-major square matrix.
std::vector<double> times(const std::vector<double>& a, const std::vector<double>& x) {
    const size_t n = x.size();
    std::vector<double> out(n);
    for (size_t j = 0; j < n; ++j)
        for (size_t i = 0; i < n; ++i) out[i] += a[i + j * n] * x[j];
    return out;
}

std::vector<double> symmetric(int n) {
    auto a = numbers<double>(size_t(n * n), 3);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i <= j; ++i) a[size_t(i + j * n)] = i == j ? n + 1 : a[size_t(j + i * n)];
    return a;
}

}  // namespace

TEST_CASE("getrf and getrs solve a system", "[solver]") {
    const int n = 6;
    const auto a = numbers<double>(n * n, 1), x = numbers<double>(n, 2);
    Solver handle;
    Device<double> d_a(a), d_b(times(a, x));
    Device<int> pivots(n), info(1);
    int size = 0;
    REQUIRE(cusolverDnDgetrf_bufferSize(handle, n, n, d_a, n, &size) == kOk);
    Device<double> work(std::max(1, size));
    REQUIRE(cusolverDnDgetrf(handle, n, n, d_a, n, work, pivots, info) == kOk);
    REQUIRE(cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 1, d_a, n, pivots, d_b, n, info) == kOk);
    CHECK(info.values()[0] == 0);
    CHECK(difference(d_b.values(), x) < 1e-10);
}

TEST_CASE("getrf says at which pivot a matrix is singular", "[solver]") {
    Solver handle;
    Device<double> a(std::vector<double>{1, 2, 2, 4});
    Device<int> pivots(2), info(1);
    int size = 0;
    REQUIRE(cusolverDnDgetrf_bufferSize(handle, 2, 2, a, 2, &size) == kOk);
    Device<double> work(std::max(1, size));
    REQUIRE(cusolverDnDgetrf(handle, 2, 2, a, 2, work, pivots, info) == kOk);
    CHECK(info.values()[0] == 2);
}

TEST_CASE("potrf and potrs solve with one triangle", "[solver]") {
    const int n = 5;
    auto a = symmetric(n);
    const auto x = numbers<double>(n, 4), b = times(a, x);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < j; ++i) a[size_t(i + j * n)] = NAN;
    Solver handle;
    Device<double> d_a(a), d_b(b);
    Device<int> info(1);
    int size = 0;
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    REQUIRE(cusolverDnDpotrf_bufferSize(handle, lower, n, d_a, n, &size) == kOk);
    Device<double> work(std::max(1, size));
    REQUIRE(cusolverDnDpotrf(handle, lower, n, d_a, n, work, size, info) == kOk);
    CHECK(info.values()[0] == 0);
    REQUIRE(cusolverDnDpotrs(handle, lower, n, 1, d_a, n, d_b, n, info) == kOk);
    CHECK(difference(d_b.values(), x) < 1e-10);
}

TEST_CASE("geqrf and ormqr: Q^T A is upper triangular", "[solver]") {
    const int m = 5, n = 3;
    const auto a = numbers<float>(m * n, 5);
    Solver handle;
    Device<float> d_a(a), d_c(a), tau(n);
    Device<int> info(1);
    int size = 0, more = 0;
    REQUIRE(cusolverDnSgeqrf_bufferSize(handle, m, n, d_a, m, &size) == kOk);
    Device<float> work(std::max(1, size));
    REQUIRE(cusolverDnSgeqrf(handle, m, n, d_a, m, tau, work, size, info) == kOk);
    const auto left = CUBLAS_SIDE_LEFT;
    const auto t = CUBLAS_OP_T;
    REQUIRE(cusolverDnSormqr_bufferSize(handle, left, t, m, n, n, d_a, m, tau, d_c, m, &more) ==
            kOk);
    Device<float> work2(std::max(1, more));
    REQUIRE(cusolverDnSormqr(handle, left, t, m, n, n, d_a, m, tau, d_c, m, work2, more, info) ==
            kOk);
    const auto r = d_a.values(), product = d_c.values();
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i)
            CHECK(product[size_t(i + j * m)] ==
                  Approx(i <= j ? r[size_t(i + j * m)] : 0).margin(1e-5));
}

TEST_CASE("syevd: A v = lambda v, in rising order", "[solver]") {
    const int n = 4;
    const auto a = symmetric(n);
    Solver handle;
    Device<double> d_a(a), values(n);
    Device<int> info(1);
    int size = 0;
    const auto mode = CUSOLVER_EIG_MODE_VECTOR;
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    REQUIRE(cusolverDnDsyevd_bufferSize(handle, mode, lower, n, d_a, n, values, &size) == kOk);
    Device<double> work(std::max(1, size));
    REQUIRE(cusolverDnDsyevd(handle, mode, lower, n, d_a, n, values, work, size, info) == kOk);
    const auto lambda = values.values(), vectors = d_a.values();
    for (int k = 0; k < n; ++k) {
        std::vector<double> v(vectors.begin() + k * n, vectors.begin() + (k + 1) * n);
        auto want = v;
        for (double& value : want) value *= lambda[size_t(k)];
        CHECK(difference(times(a, v), want) < 1e-10);
        if (k > 0) CHECK(lambda[size_t(k)] >= lambda[size_t(k - 1)]);
    }
}

TEST_CASE("gesvd: U S V^T is A", "[solver]") {
    const int m = 4, n = 3;
    const auto a = numbers<double>(m * n, 6);
    Solver handle;
    Device<double> d_a(a), s(n), u(m * m), vt(n * n);
    Device<int> info(1);
    int size = 0;
    REQUIRE(cusolverDnDgesvd_bufferSize(handle, m, n, &size) == kOk);
    Device<double> work(std::max(1, size));
    REQUIRE(cusolverDnDgesvd(
                handle, 'A', 'A', m, n, d_a, m, s, u, m, vt, n, work, size, nullptr, info) == kOk);
    const auto S = s.values(), U = u.values(), V = vt.values();
    std::vector<double> product(size_t(m * n));
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i)
            for (int k = 0; k < n; ++k)
                product[size_t(i + j * m)] +=
                    U[size_t(i + k * m)] * S[size_t(k)] * V[size_t(k + j * n)];
    CHECK(difference(product, a) < 1e-12);
}

TEST_CASE("a workspace that is too small is refused", "[solver]") {
    const int n = 3;
    Solver handle;
    Device<double> a(symmetric(n)), work(1);
    Device<int> info(1);
    if (lab::emulated())  // cuSOLVER 12 itself needs none for so small a matrix, and says success
        CHECK(cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, n, a, n, work, 0, info) != kOk);
}

TEST_CASE("pivots that getrf has not stored are not followed", "[solver]") {
    const int n = 3;
    Solver handle;
    Device<double> a(symmetric(n)), b(numbers<double>(n, 4));
    Device<int> pivots(std::vector<int>{1, 1 << 30, 3}), info(1);
    CHECK(cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 1, a, n, pivots, b, n, info) == kOk);
    CHECK(b.values() == numbers<double>(n, 4));
}
