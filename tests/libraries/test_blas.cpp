// SPDX-License-Identifier: MIT
// cuBLAS: values against sums written out, and what it refuses.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include "handles.h"
#include "lab.h"

using namespace lab;

namespace {

constexpr auto kOk = CUBLAS_STATUS_SUCCESS;

cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                    int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                    const float* beta, float* c, int ldc) {
    return cublasSgemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                    int k, const double* alpha, const double* a, int lda, const double* b, int ldb,
                    const double* beta, double* c, int ldc) {
    return cublasDgemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace

TEMPLATE_TEST_CASE("gemm: every transposition, with leading dimensions", "[blas]", float, double) {
    using T = TestType;
    const int m = 17, n = 9, k = 31;
    const bool ta = GENERATE(false, true), tb = GENERATE(false, true);
    const int lda = (ta ? k : m) + 3, ldb = (tb ? n : k) + 1, ldc = m + 2;
    const auto a = numbers<T>(size_t(lda * (ta ? m : k)), 1);
    const auto b = numbers<T>(size_t(ldb * (tb ? k : n)), 2);
    const auto c = numbers<T>(size_t(ldc * n), 3);
    const T alpha = T(1.5), beta = T(-0.5);
    std::vector<double> want(c.begin(), c.end());
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            double sum = 0;
            for (int l = 0; l < k; ++l) sum += at(a, lda, ta, i, l) * at(b, ldb, tb, l, j);
            want[size_t(i + j * ldc)] = alpha * sum + beta * c[size_t(i + j * ldc)];
        }
    Blas handle;
    Device<T> d_a(a), d_b(b), d_c(c);
    const auto op = [](bool t) { return t ? CUBLAS_OP_T : CUBLAS_OP_N; };
    REQUIRE(gemm(handle, op(ta), op(tb), m, n, k, &alpha, d_a, lda, d_b, ldb, &beta, d_c, ldc) ==
            kOk);
    CHECK(difference(d_c.values(), want) < kBound<T> * k);
}

TEST_CASE("gemm: with beta 0 the old values do not count", "[blas]") {
    const int n = 4;
    Blas handle;
    Device<float> a(std::vector<float>(16, 1.0f)), c(std::vector<float>(16, NAN));
    const float one = 1, zero = 0;
    const auto N = CUBLAS_OP_N;
    REQUIRE(cublasSgemm(handle, N, N, n, n, n, &one, a, n, a, n, &zero, c, n) == kOk);
    CHECK(difference(c.values(), std::vector<float>(16, 4.0f)) == 0);
}

TEST_CASE("gemmStridedBatched: each product its own, and one matrix for all", "[blas]") {
    const int n = 3, batch = 4;
    const auto a = numbers<float>(n * n, 5), b = numbers<float>(n * n * batch, 6);
    std::vector<double> want(size_t(n * n * batch));
    for (int s = 0; s < batch; ++s)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                for (int l = 0; l < n; ++l)
                    want[size_t(s * n * n + i + j * n)] +=
                        double(a[size_t(i + l * n)]) * b[size_t(s * n * n + l + j * n)];
    Blas handle;
    Device<float> d_a(a), d_b(b), d_c(want.size());
    const float one = 1, zero = 0;
    REQUIRE(cublasSgemmStridedBatched(handle,
                                      CUBLAS_OP_N,
                                      CUBLAS_OP_N,
                                      n,
                                      n,
                                      n,
                                      &one,
                                      d_a,
                                      n,
                                      0,
                                      d_b,
                                      n,
                                      n * n,
                                      &zero,
                                      d_c,
                                      n,
                                      n * n,
                                      batch) == kOk);
    CHECK(difference(d_c.values(), want) < kBound<float> * n);
}

TEST_CASE("GemmEx: half matrices with sums in float", "[blas]") {
    const int n = 8;
    const auto a = numbers<float>(n * n, 7), b = numbers<float>(n * n, 8);
    std::vector<__half> ha, hb;
    for (float value : a) ha.push_back(__float2half(value));
    for (float value : b) hb.push_back(__float2half(value));
    std::vector<double> want(size_t(n * n));
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            for (int l = 0; l < n; ++l)
                want[size_t(i + j * n)] += double(__half2float(ha[size_t(i + l * n)])) *
                                           __half2float(hb[size_t(l + j * n)]);
    Blas handle;
    Device<__half> d_a(ha), d_b(hb);
    const float one = 1, zero = 0;
    const auto product = [&](void* c, cudaDataType type) {
        return cublasGemmEx(handle,
                            CUBLAS_OP_N,
                            CUBLAS_OP_N,
                            n,
                            n,
                            n,
                            &one,
                            d_a,
                            CUDA_R_16F,
                            n,
                            d_b,
                            CUDA_R_16F,
                            n,
                            &zero,
                            c,
                            type,
                            n,
                            CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT);
    };
    Device<float> d_c(want.size());
    REQUIRE(product(d_c, CUDA_R_32F) == kOk);
    CHECK(difference(d_c.values(), want) < kBound<float> * n);
    Device<__half> d_h(want.size());
    REQUIRE(product(d_h, CUDA_R_16F) == kOk);
    std::vector<float> rounded;
    for (__half value : d_h.values()) rounded.push_back(__half2float(value));
    CHECK(difference(rounded, want) < 4e-3);
    CHECK(product(d_c, CUDA_R_64F) == CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_CASE("level 1: vectors with strides, also backwards", "[blas]") {
    const int n = 5;
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9}, y{10, 20, 30, 40, 50};
    Blas handle;
    Device<double> d_x(x), d_y(y);
    const double alpha = 2;
    double dot = 0, norm = 0, sum = 0;
    int largest = 0, least = 0;
    // x[0], x[2], ... x[8] against y from its end.
    REQUIRE(cublasDdot(handle, n, d_x, 2, d_y, -1, &dot) == kOk);
    CHECK(dot == 1 * 50 + 3 * 40 + 5 * 30 + 7 * 20 + 9 * 10);
    REQUIRE(cublasDnrm2(handle, n, d_x, 2, &norm) == kOk);
    CHECK(norm == Approx(std::sqrt(165.0)));
    REQUIRE(cublasDasum(handle, n, d_y, 1, &sum) == kOk);
    CHECK(sum == 150);
    REQUIRE(cublasIdamax(handle, n, d_x, 2, &largest) == kOk);
    REQUIRE(cublasIdamin(handle, n, d_x, 2, &least) == kOk);
    CHECK(largest == 5);
    CHECK(least == 1);
    REQUIRE(cublasDaxpy(handle, n, &alpha, d_x, 2, d_y, 1) == kOk);
    CHECK(d_y.values() == std::vector<double>{12, 26, 40, 54, 68});
    REQUIRE(cublasDscal(handle, 2, &alpha, d_y, 3) == kOk);
    CHECK(d_y.values() == std::vector<double>{24, 26, 40, 108, 68});
    REQUIRE(cublasDswap(handle, 2, d_x, 1, d_y, 1) == kOk);
    CHECK(d_y.values()[0] == 1);
    REQUIRE(cublasDcopy(handle, 1, d_y, 1, d_x, 1) == kOk);
    CHECK(d_x.values()[0] == 1);
}

TEST_CASE("pointer mode: scalars and results in device memory", "[blas]") {
    Blas handle;
    REQUIRE(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) == kOk);
    Device<float> x(std::vector<float>{3, 4}), alpha(std::vector<float>{10}), result(1);
    Device<int> index(1);
    REQUIRE(cublasSscal(handle, 2, alpha, x, 1) == kOk);
    REQUIRE(cublasSnrm2(handle, 2, x, 1, result) == kOk);
    REQUIRE(cublasIsamax(handle, 2, x, 1, index) == kOk);
    CHECK(result.values()[0] == Approx(50));
    CHECK(index.values()[0] == 2);
}

TEST_CASE("gemv: plain and transposed", "[blas]") {
    const int m = 3, n = 2;
    const std::vector<float> a{1, 2, 3, 4, 5, 6};
    Blas handle;
    Device<float> d_a(a), x(std::vector<float>{1, 10, 100}), y(std::vector<float>{1, 1, 1});
    const float one = 1, zero = 0;
    REQUIRE(cublasSgemv(handle, CUBLAS_OP_N, m, n, &one, d_a, m, x, 1, &one, y, 1) == kOk);
    CHECK(y.values() == std::vector<float>{42, 53, 64});
    REQUIRE(cublasSgemv(handle, CUBLAS_OP_T, m, n, &one, d_a, m, x, 1, &zero, y, 1) == kOk);
    CHECK(y.values() == std::vector<float>{321, 654, 64});
    CHECK(cublasSgemv(handle, CUBLAS_OP_N, m, n, &one, d_a, m - 1, x, 1, &zero, y, 1) ==
          CUBLAS_STATUS_INVALID_VALUE);
}

TEST_CASE("trsm solves what a product made, with one triangle only", "[blas]") {
    const int n = 4;
    std::vector<double> a(size_t(n * n), NAN);  // above the diagonal nothing is read
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) a[size_t(i + j * n)] = i == j ? 2 + i : 0.5 * (i + j);
    const std::vector<double> x{1, -2, 3, -4};
    std::vector<double> b(size_t(n), 0.0);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) b[size_t(i)] += a[size_t(i + j * n)] * x[size_t(j)];
    Blas handle;
    Device<double> d_a(a), d_b(b);
    const double one = 1;
    REQUIRE(cublasDtrsm(handle,
                        CUBLAS_SIDE_LEFT,
                        CUBLAS_FILL_MODE_LOWER,
                        CUBLAS_OP_N,
                        CUBLAS_DIAG_NON_UNIT,
                        n,
                        1,
                        &one,
                        d_a,
                        n,
                        d_b,
                        n) == kOk);
    CHECK(difference(d_b.values(), x) < 1e-12);
}

TEST_CASE("syrk updates one triangle; geam transposes and adds", "[blas]") {
    const int n = 2;
    Blas handle;
    Device<float> a(std::vector<float>{1, 2, 3, 4}), c(std::vector<float>{0, 0, 7, 0});
    const float one = 1, two = 2, zero = 0;
    REQUIRE(cublasSsyrk(
                handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, n, &one, a, n, &zero, c, n) == kOk);
    CHECK(c.values() == std::vector<float>{10, 14, 7, 20});
    REQUIRE(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, a, n, &two, a, n, c, n) ==
            kOk);
    CHECK(c.values() == std::vector<float>{3, 7, 8, 12});
}

TEST_CASE("a handle that is not one is refused", "[blas]") {
    Device<float> x(std::vector<float>{1});
    const float one = 1;
    CHECK(cublasSscal(nullptr, 1, &one, x, 1) == CUBLAS_STATUS_NOT_INITIALIZED);
    CHECK(cublasCreate(nullptr) != kOk);
}
