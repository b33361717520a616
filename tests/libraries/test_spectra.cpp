// SPDX-License-Identifier: MIT
// cuSOLVER's eigenvalues of any matrix, eigenvalues of one symmetric matrix by Jacobi's method, and
// singular value decompositions of batches.
#include <algorithm>
#include <complex>
#include <cusolverDn.h>

#include "handles.h"
#include "lab.h"

using namespace lab;

namespace {

constexpr auto kOk = CUSOLVER_STATUS_SUCCESS;
constexpr auto kInvalid = CUSOLVER_STATUS_INVALID_VALUE;
constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
constexpr auto kValuesOnly = CUSOLVER_EIG_MODE_NOVECTOR;
using Complex = std::complex<double>;

struct Jacobi {
    Jacobi() { REQUIRE(cusolverDnCreateGesvdjInfo(&info) == kOk); }
    ~Jacobi() { cusolverDnDestroyGesvdjInfo(info); }
    operator gesvdjInfo_t() const { return info; }
    gesvdjInfo_t info = nullptr;
};

// Eigenvalues of an n x n matrix; `w` is the type of W.
struct Geev {
    cudaDataType a, w;
    cusolverEigMode_t left = kValuesOnly, right = kVectors;
    int64_t n = 2, lda = 2;
    size_t on_device = 0, on_host = 0;

    cusolverStatus_t size(cusolverDnHandle_t handle) {
        return cusolverDnXgeev_bufferSize(handle,
                                          nullptr,
                                          left,
                                          right,
                                          n,
                                          a,
                                          nullptr,
                                          lda,
                                          w,
                                          nullptr,
                                          a,
                                          nullptr,
                                          n,
                                          a,
                                          nullptr,
                                          n,
                                          a,
                                          &on_device,
                                          &on_host);
    }
    cusolverStatus_t run(cusolverDnHandle_t handle, void* matrix, void* values, void* vectors,
                         int* info) {
        Device<char> work(on_device);
        std::vector<char> host(on_host);
        return cusolverDnXgeev(handle,
                               nullptr,
                               left,
                               right,
                               n,
                               a,
                               matrix,
                               lda,
                               w,
                               values,
                               a,
                               nullptr,
                               n,
                               a,
                               vectors,
                               n,
                               a,
                               work,
                               on_device,
                               host.data(),
                               on_host,
                               info);
    }
};

// The matrices of a batch: 3 x 2, two of them.
constexpr int kRows = 3, kColumns = 2, kBatch = 2;
constexpr size_t kElements = kRows * kColumns;

// U diag(S) V^T, of the first two columns of U and V.
std::vector<double> product(const double* u, const double* s, const double* v) {
    std::vector<double> out(kElements);
    for (int j = 0; j < kColumns; ++j)
        for (int i = 0; i < kRows; ++i)
            for (int k = 0; k < kColumns; ++k)
                out[size_t(i + j * kRows)] += u[i + k * kRows] * s[k] * v[j + k * kColumns];
    return out;
}

struct Svd {
    Device<double> a, s{kBatch * kColumns}, u{kBatch * kRows * kRows},
        v{kBatch * kColumns * kColumns};
    Device<int> info{kBatch};
    explicit Svd(const std::vector<double>& values) : a(values) {}
    // Whether each matrix's factors, with this many columns of U, give the matrix.
    void check(const std::vector<double>& values, int u_columns) const {
        const auto S = s.values(), U = u.values(), V = v.values();
        for (size_t i = 0; i < kBatch; ++i) {
            const std::vector<double> one(&values[i * kElements],
                                          &values[i * kElements] + kElements);
            CHECK(difference(product(&U[i * size_t(kRows * u_columns)],
                                     &S[i * kColumns],
                                     &V[i * kColumns * kColumns]),
                             one) < 1e-12);
            CHECK(S[i * kColumns] >= S[i * kColumns + 1]);
        }
        CHECK(info.values() == std::vector<int>(kBatch, 0));
    }
};

}  // namespace

TEST_CASE("Xgeev: complex eigenvalues of a real matrix", "[solver]") {
    Solver handle;
    Device<double> a(std::vector<double>{0, 1, -1, 0});  // a rotation: i and -i
    Device<Complex> values(2);
    Device<double> vectors(4);
    Device<int> info(1);
    Geev geev{CUDA_R_64F, CUDA_C_64F};
    REQUIRE(geev.size(handle) == kOk);
    REQUIRE(geev.run(handle, a, values, vectors, info) == kOk);
    CHECK(info.values()[0] == 0);
    const auto w = values.values();
    CHECK(std::abs(w[0] - Complex(0, 1)) < 1e-12);
    CHECK(std::abs(w[1] - Complex(0, -1)) < 1e-12);
    // Real and imaginary part of the first eigenvector: A v = i v.
    const auto v = vectors.values();
    const Complex first(v[0], v[2]), second(v[1], v[3]);
    CHECK(std::abs(-second - Complex(0, 1) * first) < 1e-12);
}

TEST_CASE("Xgeev: real parts and imaginary parts, if W is real", "[solver]") {
    Solver handle;
    Device<float> a(std::vector<float>{0, 2, -2, 0}), values(4);
    Device<int> info(1);
    Geev geev{CUDA_R_32F, CUDA_R_32F, kValuesOnly, kValuesOnly};
    REQUIRE(geev.size(handle) == kOk);
    REQUIRE(geev.run(handle, a, values, nullptr, info) == kOk);
    CHECK(difference(values.values(), std::vector<float>{0, 0, 2, -2}) < 1e-6);
}

TEST_CASE("Xgeev: A v = lambda v for a complex matrix", "[solver]") {
    Solver handle;
    const std::vector<Complex> a{{1, 2}, {3, -1}, {0, 1}, {2, 2}};
    Device<Complex> d_a(a), values(2), vectors(4);
    Device<int> info(1);
    Geev geev{CUDA_C_64F, CUDA_C_64F};
    REQUIRE(geev.size(handle) == kOk);
    REQUIRE(geev.run(handle, d_a, values, vectors, info) == kOk);
    const auto w = values.values(), v = vectors.values();
    for (size_t k = 0; k < 2; ++k)
        for (size_t i = 0; i < 2; ++i)
            CHECK(std::abs(a[i] * v[2 * k] + a[i + 2] * v[2 * k + 1] - w[k] * v[2 * k + i]) <
                  1e-12);
}

TEST_CASE("Xgeev refuses left eigenvectors, other types and short rows", "[solver]") {
    Solver handle;
    Device<double> a(std::vector<double>{1, 0, 0, 1}), values(4), vectors(4);
    Device<int> info(1);
    Geev good{CUDA_R_64F, CUDA_R_64F};
    REQUIRE(good.size(handle) == kOk);
    Geev left = good;
    left.left = kVectors;
    CHECK(left.run(handle, a, values, vectors, info) == kInvalid);
    Geev types = good;
    types.w = CUDA_R_32F;
    CHECK(types.size(handle) == kInvalid);
    CHECK(types.run(handle, a, values, vectors, info) == kInvalid);
    Geev rows = good;
    rows.lda = 1;
    CHECK(rows.size(handle) == kInvalid);
}

TEST_CASE("Xgeev with too few elements for the eigenvectors computes nothing", "[solver]") {
    if (!emulated()) return;  // a card would overwrite other memory
    Solver handle;
    Device<double> a(std::vector<double>{1, 2, 3, 4}), values(4), vectors(3);
    Device<int> info(1);
    Geev geev{CUDA_R_64F, CUDA_R_64F};
    REQUIRE(geev.size(handle) == kOk);
    CHECK(geev.run(handle, a, values, vectors, info) == CUSOLVER_STATUS_EXECUTION_FAILED);
    CHECK(a.values() == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("syevj: the eigenvalues of one symmetric matrix", "[solver]") {
    Solver handle;
    syevjInfo_t params = nullptr;
    REQUIRE(cusolverDnCreateSyevjInfo(&params) == kOk);
    Device<double> a(std::vector<double>{2, 1, 1, 2}), values(2);
    Device<int> info(1);
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    int size = 0;
    REQUIRE(cusolverDnDsyevj_bufferSize(
                handle, kValuesOnly, lower, 2, a, 2, values, &size, params) == kOk);
    Device<double> work(size_t(std::max(1, size)));
    REQUIRE(cusolverDnDsyevj(
                handle, kValuesOnly, lower, 2, a, 2, values, work, size, info, params) == kOk);
    CHECK(difference(values.values(), std::vector<double>{1, 3}) < 1e-12);
    CHECK(cusolverDnDestroySyevjInfo(params) == kOk);
}

TEST_CASE("gesvdj: a matrix that is wider than high", "[solver]") {
    const auto a = numbers<double>(kElements, 20);  // 2 x 3
    Solver handle;
    Jacobi params;
    Device<double> d_a(a), s(2), u(4), v(6);
    Device<int> info(1);
    int size = 0;
    REQUIRE(cusolverDnDgesvdj_bufferSize(
                handle, kVectors, 1, 2, 3, d_a, 2, s, u, 2, v, 3, &size, params) == kOk);
    Device<double> work(size_t(std::max(1, size)));
    REQUIRE(cusolverDnDgesvdj(
                handle, kVectors, 1, 2, 3, d_a, 2, s, u, 2, v, 3, work, size, info, params) == kOk);
    const auto S = s.values(), U = u.values(), V = v.values();
    for (size_t j = 0; j < 3; ++j)
        for (size_t i = 0; i < 2; ++i)
            CHECK(U[i] * S[0] * V[j] + U[i + 2] * S[1] * V[j + 3] == Approx(a[i + 2 * j]));
}

TEST_CASE("gesvdj stores V and not its conjugate transpose", "[solver]") {
    Solver handle;
    Jacobi params;
    Device<cuDoubleComplex> a(std::vector<cuDoubleComplex>{{1, 0}, {0, 2}}), u(1), v(4);
    Device<double> s(1);
    Device<int> info(1);
    int size = 0;
    REQUIRE(cusolverDnZgesvdj_bufferSize(
                handle, kVectors, 1, 1, 2, a, 1, s, u, 1, v, 2, &size, params) == kOk);
    Device<cuDoubleComplex> work(size_t(std::max(1, size)));
    REQUIRE(cusolverDnZgesvdj(
                handle, kVectors, 1, 1, 2, a, 1, s, u, 1, v, 2, work, size, info, params) == kOk);
    const auto U = u.values(), V = v.values();
    const auto back = [&](size_t i) {
        return Complex(U[0].x, U[0].y) * s.values()[0] * Complex(V[i].x, -V[i].y);
    };
    CHECK(std::abs(back(0) - Complex(1, 0)) < 1e-12);
    CHECK(std::abs(back(1) - Complex(0, 2)) < 1e-12);
}

TEST_CASE("gesvdjBatched: U S V^T is each matrix", "[solver]") {
    const auto a = numbers<double>(kBatch * kElements, 21);
    Solver handle;
    Jacobi params;
    Svd svd(a);
    int size = 0;
    REQUIRE(cusolverDnDgesvdjBatched_bufferSize(handle,
                                                kVectors,
                                                kRows,
                                                kColumns,
                                                svd.a,
                                                kRows,
                                                svd.s,
                                                svd.u,
                                                kRows,
                                                svd.v,
                                                kColumns,
                                                &size,
                                                params,
                                                kBatch) == kOk);
    Device<double> work(size_t(std::max(1, size)));
    REQUIRE(cusolverDnDgesvdjBatched(handle,
                                     kVectors,
                                     kRows,
                                     kColumns,
                                     svd.a,
                                     kRows,
                                     svd.s,
                                     svd.u,
                                     kRows,
                                     svd.v,
                                     kColumns,
                                     work,
                                     size,
                                     svd.info,
                                     params,
                                     kBatch) == kOk);
    svd.check(a, kRows);
}

TEST_CASE("gesvdjBatched refuses more than 32 rows", "[solver]") {
    Solver handle;
    Jacobi params;
    int size = 0;
    CHECK(cusolverDnDgesvdjBatched_bufferSize(handle,
                                              kVectors,
                                              33,
                                              2,
                                              nullptr,
                                              33,
                                              nullptr,
                                              nullptr,
                                              33,
                                              nullptr,
                                              2,
                                              &size,
                                              params,
                                              kBatch) == kInvalid);
}

TEST_CASE("gesvdaStridedBatched: the matrices keep their values, and it says what is left",
          "[solver]") {
    const auto a = numbers<double>(kBatch * kElements, 22);
    Solver handle;
    Svd svd(a);
    const auto size_of = [&](int rank, int* size) {
        return cusolverDnDgesvdaStridedBatched_bufferSize(handle,
                                                          kVectors,
                                                          rank,
                                                          kRows,
                                                          kColumns,
                                                          svd.a,
                                                          kRows,
                                                          kElements,
                                                          svd.s,
                                                          kColumns,
                                                          svd.u,
                                                          kRows,
                                                          kElements,
                                                          svd.v,
                                                          kColumns,
                                                          kColumns * kColumns,
                                                          size,
                                                          kBatch);
    };
    int size = 0;
    CHECK(size_of(3, &size) == kInvalid);
    REQUIRE(size_of(kColumns, &size) == kOk);
    Device<double> work(size_t(std::max(1, size)));
    std::vector<double> left(kBatch, 1);
    const auto run = [&](int rank) {
        return cusolverDnDgesvdaStridedBatched(handle,
                                               kVectors,
                                               rank,
                                               kRows,
                                               kColumns,
                                               svd.a,
                                               kRows,
                                               kElements,
                                               svd.s,
                                               kColumns,
                                               svd.u,
                                               kRows,
                                               kElements,
                                               svd.v,
                                               kColumns,
                                               kColumns * kColumns,
                                               work,
                                               size,
                                               svd.info,
                                               left.data(),
                                               kBatch);
    };
    REQUIRE(run(kColumns) == kOk);
    svd.check(a, kColumns);
    CHECK(svd.a.values() == a);
    CHECK(*std::max_element(left.begin(), left.end()) < 1e-6);
    // Of rank 1, the smaller singular value is left.
    const auto s = svd.s.values();
    REQUIRE(run(1) == kOk);
    for (size_t i = 0; i < kBatch; ++i) CHECK(left[i] == Approx(s[i * kColumns + 1]));
}

TEST_CASE("geqrf_bufferSize does not compare lda with the rows", "[solver]") {
    Solver handle;
    Device<double> a(kElements);
    int size = 0;
    CHECK(cusolverDnDgeqrf_bufferSize(handle, kRows, kColumns, a, kColumns, &size) == kOk);
    CHECK(cusolverDnDgeqrf_bufferSize(handle, -1, kColumns, a, kColumns, &size) == kInvalid);
}
