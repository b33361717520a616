// SPDX-License-Identifier: MIT
// Functions of cuBLAS and cuSOLVER that get a batch of matrices as an array of pointers in device
// memory, cublasGemmStridedBatchedEx, orgqr, and eigenvalues through the 64-bit interface.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cusolverDn.h>

#include "handles.h"
#include "lab.h"

using namespace lab;

namespace {

constexpr auto kOk = CUBLAS_STATUS_SUCCESS;
constexpr auto kSolved = CUSOLVER_STATUS_SUCCESS;
constexpr int kSide = 4, kBatch = 3;
constexpr size_t kElements = kSide * kSide;

// Where the matrices of a batch begin, in an order that is not theirs in memory.
std::vector<double*> places(double* first) {
    return {first + 2 * kElements, first, first + kElements};
}

// A B, column after column.
std::vector<double> product(const double* a, const double* b) {
    std::vector<double> out(kElements);
    for (int j = 0; j < kSide; ++j)
        for (int i = 0; i < kSide; ++i)
            for (int k = 0; k < kSide; ++k)
                out[size_t(i + j * kSide)] += a[i + k * kSide] * b[k + j * kSide];
    return out;
}

std::vector<double> identity() {
    std::vector<double> out(kElements);
    for (size_t i = 0; i < kSide; ++i) out[i * (kSide + 1)] = 1;
    return out;
}

// Symmetric with a large diagonal.
std::vector<double> positive(uint64_t seed) {
    auto a = numbers<double>(kElements, seed);
    for (int j = 0; j < kSide; ++j)
        for (int i = 0; i <= j; ++i)
            a[size_t(i + j * kSide)] = i == j ? 2.0 * kSide : a[size_t(j + i * kSide)];
    return a;
}

}  // namespace

TEST_CASE("getrfBatched and getriBatched invert each matrix", "[blas]") {
    const auto a = numbers<double>(kBatch * kElements, 11);
    Blas handle;
    Device<double> d_a(a), d_c(kBatch * kElements);
    Device<double*> in(places(d_a)), out(places(d_c));
    Device<int> pivots(kBatch * kSide), info(kBatch);
    REQUIRE(cublasDgetrfBatched(handle, kSide, in, kSide, pivots, info, kBatch) == kOk);
    CHECK(info.values() == std::vector<int>(kBatch, 0));
    REQUIRE(cublasDgetriBatched(handle, kSide, in, kSide, pivots, out, kSide, info, kBatch) == kOk);
    const auto c = d_c.values();
    for (size_t i = 0; i < kBatch; ++i)
        CHECK(difference(product(&a[i * kElements], &c[i * kElements]), identity()) < 1e-10);
}

TEST_CASE("getrsBatched solves each system", "[blas]") {
    const auto a = numbers<double>(kBatch * kElements, 12), x = numbers<double>(kElements, 13);
    std::vector<double> b;
    for (size_t i = 0; i < kBatch; ++i) {
        const auto one = product(&a[i * kElements], x.data());
        b.insert(b.end(), one.begin(), one.end());
    }
    Blas handle;
    Device<double> d_a(a), d_b(b);
    Device<double*> systems(places(d_a)), right(places(d_b));
    Device<int> pivots(kBatch * kSide), info(kBatch);
    REQUIRE(cublasDgetrfBatched(handle, kSide, systems, kSide, pivots, info, kBatch) == kOk);
    int wrong = -1;
    REQUIRE(cublasDgetrsBatched(handle,
                                CUBLAS_OP_N,
                                kSide,
                                kSide,
                                systems,
                                kSide,
                                pivots,
                                right,
                                kSide,
                                &wrong,
                                kBatch) == kOk);
    CHECK(wrong == 0);
    const auto got = d_b.values();
    for (size_t i = 0; i < kBatch; ++i) {
        const std::vector<double> one(&got[i * kElements], &got[i * kElements] + kElements);
        CHECK(difference(one, x) < 1e-10);
    }
}

TEST_CASE("potrfBatched factorises each matrix, and says which cannot be", "[solver]") {
    auto a = positive(14), bad = positive(15);
    bad[0] = -1;
    std::vector<double> all(a);
    all.insert(all.end(), bad.begin(), bad.end());
    Solver handle;
    Device<double> d_a(all);
    Device<double*> matrices(std::vector<double*>{d_a, d_a + kElements});
    Device<int> info(2);
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    REQUIRE(cusolverDnDpotrfBatched(handle, lower, kSide, matrices, kSide, info, 2) == kSolved);
    CHECK(info.values() == std::vector<int>{0, 1});
    auto l = d_a.values(), transposed = l;
    for (int j = 0; j < kSide; ++j)
        for (int i = 0; i < j; ++i) l[size_t(i + j * kSide)] = 0;
    for (int j = 0; j < kSide; ++j)
        for (int i = 0; i < kSide; ++i)
            transposed[size_t(i + j * kSide)] = l[size_t(j + i * kSide)];
    CHECK(difference(product(l.data(), transposed.data()), a) < 1e-10);
}

TEST_CASE("a batch with a pointer that is not one computes nothing", "[blas]") {
    if (!emulated()) return;  // a card has no answer: the error is sticky
    Blas handle;
    Device<double> a(kElements);
    Device<double*> in(std::vector<double*>{a, nullptr});
    Device<int> pivots(2 * kSide), info(2);
    CHECK(cublasDgetrfBatched(handle, kSide, in, kSide, pivots, info, 2) ==
          CUBLAS_STATUS_EXECUTION_FAILED);
}

TEST_CASE("gemmBatched: products of matrices that are anywhere", "[blas]") {
    const auto a = numbers<double>(kBatch * kElements, 19), b = numbers<double>(kElements, 20);
    Blas handle;
    Device<double> d_a(a), d_b(b), d_c(kBatch * kElements);
    Device<double*> in(places(d_a)), out(places(d_c));
    Device<double*> same(std::vector<double*>(kBatch, d_b));
    const double one = 1, zero = 0;
    const auto multiply = [&](int lda) {
        const auto plain = CUBLAS_OP_N;
        const double* const* left = in;
        const double* const* right = same;
        return cublasDgemmBatched(handle,
                                  plain,
                                  plain,
                                  kSide,
                                  kSide,
                                  kSide,
                                  &one,
                                  left,
                                  lda,
                                  right,
                                  kSide,
                                  &zero,
                                  out,
                                  kSide,
                                  kBatch);
    };
    REQUIRE(multiply(kSide) == kOk);
    const auto c = d_c.values();
    for (size_t i = 0; i < kBatch; ++i) {
        const std::vector<double> one_c(&c[i * kElements], &c[i * kElements] + kElements);
        CHECK(difference(one_c, product(&a[i * kElements], b.data())) < 1e-12);
    }
    CHECK(multiply(kSide - 1) == CUBLAS_STATUS_INVALID_VALUE);
}

TEST_CASE("GemmStridedBatchedEx: half matrices, each product its own", "[blas]") {
    std::vector<__half> a(2 * kElements), b(2 * kElements);
    const auto values = numbers<double>(4 * kElements, 16);
    std::vector<double> exact_a, exact_b;
    for (size_t i = 0; i < 2 * kElements; ++i) {
        a[i] = __float2half(float(values[i]));
        b[i] = __float2half(float(values[2 * kElements + i]));
        exact_a.push_back(__half2float(a[i]));
        exact_b.push_back(__half2float(b[i]));
    }
    Blas handle;
    Device<__half> d_a(a), d_b(b);
    Device<float> d_c(2 * kElements);
    const float one = 1, zero = 0;
    REQUIRE(cublasGemmStridedBatchedEx(handle,
                                       CUBLAS_OP_N,
                                       CUBLAS_OP_N,
                                       kSide,
                                       kSide,
                                       kSide,
                                       &one,
                                       d_a,
                                       CUDA_R_16F,
                                       kSide,
                                       kElements,
                                       d_b,
                                       CUDA_R_16F,
                                       kSide,
                                       kElements,
                                       &zero,
                                       d_c,
                                       CUDA_R_32F,
                                       kSide,
                                       kElements,
                                       2,
                                       CUBLAS_COMPUTE_32F,
                                       CUBLAS_GEMM_DEFAULT) == kOk);
    const auto c = d_c.values();
    for (size_t i = 0; i < 2; ++i) {
        const std::vector<float> one_c(&c[i * kElements], &c[i * kElements] + kElements);
        CHECK(difference(one_c, product(&exact_a[i * kElements], &exact_b[i * kElements])) < 1e-5);
    }
}

TEST_CASE("geqrf and orgqr: Q R is A", "[solver]") {
    const auto a = numbers<double>(kElements, 17);
    Solver handle;
    Device<double> d_a(a), tau(kSide);
    Device<int> info(1);
    int size = 0, more = 0;
    REQUIRE(cusolverDnDgeqrf_bufferSize(handle, kSide, kSide, d_a, kSide, &size) == kSolved);
    REQUIRE(cusolverDnDorgqr_bufferSize(handle, kSide, kSide, kSide, d_a, kSide, tau, &more) ==
            kSolved);
    size = std::max({1, size, more});
    Device<double> work{size_t(size)};
    REQUIRE(cusolverDnDgeqrf(handle, kSide, kSide, d_a, kSide, tau, work, size, info) == kSolved);
    auto r = d_a.values();
    for (int j = 0; j < kSide; ++j)
        for (int i = j + 1; i < kSide; ++i) r[size_t(i + j * kSide)] = 0;
    REQUIRE(cusolverDnDorgqr(handle, kSide, kSide, kSide, d_a, kSide, tau, work, size, info) ==
            kSolved);
    const auto q = d_a.values();
    CHECK(difference(product(q.data(), r.data()), a) < 1e-10);
}

TEST_CASE("Xsyevd: the eigenvalues of syevd", "[solver]") {
    const auto a = positive(18);
    Solver handle;
    Device<double> first(a), second(a), values(kSide), wanted(kSide);
    Device<int> info(1);
    const auto mode = CUSOLVER_EIG_MODE_NOVECTOR;
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    int elements = 0;
    REQUIRE(cusolverDnDsyevd_bufferSize(
                handle, mode, lower, kSide, first, kSide, wanted, &elements) == kSolved);
    Device<double> work(size_t(std::max(1, elements)));
    REQUIRE(cusolverDnDsyevd(
                handle, mode, lower, kSide, first, kSide, wanted, work, elements, info) == kSolved);
    cusolverDnParams_t params = nullptr;
    REQUIRE(cusolverDnCreateParams(&params) == kSolved);
    size_t bytes = 0, on_host = 0;
    REQUIRE(cusolverDnXsyevd_bufferSize(handle,
                                        params,
                                        mode,
                                        lower,
                                        kSide,
                                        CUDA_R_64F,
                                        second,
                                        kSide,
                                        CUDA_R_64F,
                                        values,
                                        CUDA_R_64F,
                                        &bytes,
                                        &on_host) == kSolved);
    Device<char> buffer(bytes);
    std::vector<char> host(on_host + 1);
    REQUIRE(cusolverDnXsyevd(handle,
                             params,
                             mode,
                             lower,
                             kSide,
                             CUDA_R_64F,
                             second,
                             kSide,
                             CUDA_R_64F,
                             values,
                             CUDA_R_64F,
                             buffer,
                             bytes,
                             host.data(),
                             on_host,
                             info) == kSolved);
    CHECK(info.values()[0] == 0);
    CHECK(difference(values.values(), wanted.values()) < 1e-12);
    REQUIRE(cusolverDnDestroyParams(params) == kSolved);
}
