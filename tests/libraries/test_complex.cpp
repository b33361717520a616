// SPDX-License-Identifier: MIT
// Complex matrices in cuBLAS and cuSOLVER: conjugation, and what only complex types have.
#include <complex>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "handles.h"
#include "lab.h"

using namespace lab;

namespace {

using Complex = std::complex<double>;
constexpr auto kOk = CUBLAS_STATUS_SUCCESS;
constexpr auto kSolved = CUSOLVER_STATUS_SUCCESS;

std::vector<Complex> complex_numbers(size_t count, uint64_t seed) {
    const auto parts = numbers<double>(2 * count, seed);
    std::vector<Complex> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = {parts[2 * i], parts[2 * i + 1]};
    return out;
}

double largest_difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
}

// A B of n x n matrices, column after column; `conjugated`: the conjugate transpose of A.
std::vector<Complex> product(const std::vector<Complex>& a, const std::vector<Complex>& b, int n,
                             bool conjugated = false) {
    std::vector<Complex> out(size_t(n * n));
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k)
                out[size_t(i + j * n)] +=
                    (conjugated ? std::conj(a[size_t(k + i * n)]) : a[size_t(i + k * n)]) *
                    b[size_t(k + j * n)];
    return out;
}

cuDoubleComplex* api(Complex* pointer) {
    return reinterpret_cast<cuDoubleComplex*>(pointer);
}

}  // namespace

TEST_CASE("gemm: a conjugate transpose conjugates", "[blas]") {
    const int n = 5;
    const auto a = complex_numbers(n * n, 1), b = complex_numbers(n * n, 2);
    Blas handle;
    Device<Complex> d_a(a), d_b(b), d_c(n * n);
    Complex one = 1, zero = 0;
    REQUIRE(cublasZgemm(handle,
                        CUBLAS_OP_C,
                        CUBLAS_OP_N,
                        n,
                        n,
                        n,
                        api(&one),
                        api(d_a),
                        n,
                        api(d_b),
                        n,
                        api(&zero),
                        api(d_c),
                        n) == kOk);
    CHECK(largest_difference(d_c.values(), product(a, b, n, true)) < 1e-12);
}

TEST_CASE("GemmEx: complex numbers of one type", "[blas]") {
    const int n = 4;
    const auto a = complex_numbers(n * n, 3), b = complex_numbers(n * n, 4);
    Blas handle;
    Device<Complex> d_a(a), d_b(b), d_c(n * n);
    Complex one = 1, zero = 0;
    REQUIRE(cublasGemmEx(handle,
                         CUBLAS_OP_N,
                         CUBLAS_OP_N,
                         n,
                         n,
                         n,
                         &one,
                         d_a,
                         CUDA_C_64F,
                         n,
                         d_b,
                         CUDA_C_64F,
                         n,
                         &zero,
                         d_c,
                         CUDA_C_64F,
                         n,
                         CUBLAS_COMPUTE_64F,
                         CUBLAS_GEMM_DEFAULT) == kOk);
    CHECK(largest_difference(d_c.values(), product(a, b, n)) < 1e-12);
}

TEST_CASE("dotc conjugates its first vector, dotu neither", "[blas]") {
    const int n = 33;
    const auto x = complex_numbers(n, 5), y = complex_numbers(n, 6);
    Blas handle;
    Device<Complex> d_x(x), d_y(y);
    Complex plain, conjugated, want_plain, want_conjugated;
    REQUIRE(cublasZdotu(handle, n, api(d_x), 1, api(d_y), 1, api(&plain)) == kOk);
    REQUIRE(cublasZdotc(handle, n, api(d_x), 1, api(d_y), 1, api(&conjugated)) == kOk);
    for (size_t i = 0; i < n; ++i) want_plain += x[i] * y[i];
    for (size_t i = 0; i < n; ++i) want_conjugated += std::conj(x[i]) * y[i];
    CHECK(std::abs(plain - want_plain) < 1e-12);
    CHECK(std::abs(conjugated - want_conjugated) < 1e-12);
}

TEST_CASE("gerc conjugates its second vector", "[blas]") {
    Blas handle;
    Device<Complex> x(std::vector<Complex>{{1, 0}, {0, 2}}), y(std::vector<Complex>{{0, 1}});
    Device<Complex> a(std::vector<Complex>{{0, 0}, {10, 0}});
    Complex one = 1;
    REQUIRE(cublasZgerc(handle, 2, 1, api(&one), api(x), 1, api(y), 1, api(a), 2) == kOk);
    CHECK(largest_difference(a.values(), {{0, -1}, {12, 0}}) == 0);
}

TEST_CASE("the norm of a complex vector is real", "[blas]") {
    Blas handle;
    Device<Complex> x(std::vector<Complex>{{3, 0}, {0, 4}});
    double norm = 0, sum = 0;
    REQUIRE(cublasDznrm2(handle, 2, api(x), 1, &norm) == kOk);
    REQUIRE(cublasDzasum(handle, 2, api(x), 1, &sum) == kOk);
    CHECK(norm == 5);
    CHECK(sum == 7);
}

TEST_CASE("getrf and getrs solve a complex system, also a conjugated one", "[solver]") {
    const int n = 6;
    const auto a = complex_numbers(n * n, 7), x = complex_numbers(n * n, 8);
    const auto op = GENERATE(CUBLAS_OP_N, CUBLAS_OP_C);
    Solver handle;
    Device<Complex> d_a(a), d_b(product(a, x, n, op == CUBLAS_OP_C));
    Device<int> pivots(n), info(1);
    int size = 0;
    REQUIRE(cusolverDnZgetrf_bufferSize(handle, n, n, api(d_a), n, &size) == kSolved);
    Device<Complex> work(size_t(std::max(1, size)));
    REQUIRE(cusolverDnZgetrf(handle, n, n, api(d_a), n, api(work), pivots, info) == kSolved);
    REQUIRE(cusolverDnZgetrs(handle, op, n, n, api(d_a), n, pivots, api(d_b), n, info) == kSolved);
    CHECK(largest_difference(d_b.values(), x) < 1e-10);
}

TEST_CASE("heevd: A v = lambda v with real lambda", "[solver]") {
    const int n = 5;
    auto a = complex_numbers(n * n, 9);
    for (int j = 0; j < n; ++j) {
        a[size_t(j + j * n)] = a[size_t(j + j * n)].real();
        for (int i = 0; i < j; ++i) a[size_t(i + j * n)] = std::conj(a[size_t(j + i * n)]);
    }
    Solver handle;
    Device<Complex> d_a(a);
    Device<double> values(n);
    Device<int> info(1);
    int size = 0;
    const auto mode = CUSOLVER_EIG_MODE_VECTOR;
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    REQUIRE(cusolverDnZheevd_bufferSize(handle, mode, lower, n, api(d_a), n, values, &size) ==
            kSolved);
    Device<Complex> work(size_t(std::max(1, size)));
    REQUIRE(cusolverDnZheevd(handle, mode, lower, n, api(d_a), n, values, api(work), size, info) ==
            kSolved);
    CHECK(info.values()[0] == 0);
    const auto vectors = d_a.values();
    const auto lambda = values.values();
    auto scaled = vectors;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) scaled[size_t(i + j * n)] *= lambda[size_t(j)];
    CHECK(largest_difference(product(a, vectors, n), scaled) < 1e-10);
    CHECK(std::is_sorted(lambda.begin(), lambda.end()));
}
