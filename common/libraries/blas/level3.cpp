// SPDX-License-Identifier: MIT
// cuBLAS level 3: matrix products, triangular systems, and geam, which BLAS does not have.
#include <type_traits>

#include "blas/calls.h"
#include "blas/gemm.h"
#include "blas/handle.h"

namespace blas {
namespace {

struct Triangle {
    cublasSideMode_t side;
    cublasFillMode_t fill;
    cublasOperation_t op;
    cublasDiagType_t diagonal;
};

// A column of the matrix is a row of the operand, so elements below the diagonal come after it.
Operand::Part part_of(cublasFillMode_t fill, cublasDiagType_t diagonal) {
    using Part = Operand::Part;
    const bool unit = diagonal == CUBLAS_DIAG_UNIT;
    if (fill == CUBLAS_FILL_MODE_LOWER) return unit ? Part::kAfterDiagonal : Part::kFromDiagonal;
    return unit ? Part::kBeforeDiagonal : Part::kToDiagonal;
}

template <class T, class Int>
cublasStatus_t do_trsm(const char* name, cublasHandle_t handle, const Triangle& triangle, Int m,
                       Int n, const T* alpha, const T* a, Int lda, T* b, Int ldb) {
    return function(name, handle, [&](cublasContext& context) {
        const Int order = triangle.side == CUBLAS_SIDE_LEFT ? m : n;
        if (!is_fill(triangle.fill) || !is_operation(triangle.op) || m < 0 || n < 0 || !alpha ||
            lda < std::max<Int>(1, order) || ldb < std::max<Int>(1, m))
            return CUBLAS_STATUS_INVALID_VALUE;
        if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(m, n, lda, ldb)) return too_large(name);
        const Scalar<T> factor(alpha, context.scalars_on_device());
        Operand in = matrix_of("A", a, order, order, lda);
        in.part = part_of(triangle.fill, triangle.diagonal);
        return run(context,
                   name,
                   {in, updated(matrix_of("B", b, m, n, ldb)), factor.operand("alpha")},
                   [=](std::byte* const* at) {
                       trsm(triangle.side,
                            triangle.fill,
                            triangle.op,
                            triangle.diagonal,
                            int(m),
                            int(n),
                            factor.value(at[2]),
                            as<T>(at[0]),
                            int(lda),
                            as<T>(at[1]),
                            int(ldb));
                   });
    });
}

template <class T, class Int>
cublasStatus_t do_syrk(const char* name, cublasHandle_t handle, cublasFillMode_t fill,
                       cublasOperation_t op, Int n, Int k, const T* alpha, const T* a, Int lda,
                       const T* beta, T* c, Int ldc) {
    return function(name, handle, [&](cublasContext& context) {
        const bool plain = op == CUBLAS_OP_N;
        // A product with the conjugate is herk.
        constexpr bool kReal = std::is_floating_point_v<T>;
        if (!is_fill(fill) || !is_operation(op) || (!kReal && op == CUBLAS_OP_C) || n < 0 ||
            k < 0 || !alpha || !beta || lda < std::max<Int>(1, plain ? n : k) ||
            ldc < std::max<Int>(1, n))
            return CUBLAS_STATUS_INVALID_VALUE;
        if (n == 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(n, k, lda, ldc)) return too_large(name);
        const Scalar<T> factor(alpha, context.scalars_on_device());
        const Scalar<T> old(beta, context.scalars_on_device());
        Operand in = matrix_of("A", a, plain ? n : k, plain ? k : n, lda);
        in.reads = !factor.is_certainly(T(0));
        Operand out = updated(matrix_of("C", c, n, n, ldc));
        out.part = part_of(fill, CUBLAS_DIAG_NON_UNIT);
        out.reads_if = [=](std::byte* const* at) { return old.value(at[3]) != T(0); };
        return run(context,
                   name,
                   {in, out, factor.operand("alpha"), old.operand("beta")},
                   [=](std::byte* const* at) {
                       syrk(fill,
                            op,
                            int(n),
                            int(k),
                            factor.value(at[2]),
                            as<T>(at[0]),
                            int(lda),
                            old.value(at[3]),
                            as<T>(at[1]),
                            int(ldc));
                   });
    });
}

template <class T>
T element(T value, cublasOperation_t op) {
    return op == CUBLAS_OP_C ? stand_in::conjugate(value) : value;
}

// C = alpha op(A) + beta op(B). C may be A or B where that one is not transposed.
template <class T, class Int>
cublasStatus_t do_geam(const char* name, cublasHandle_t handle, cublasOperation_t transa,
                       cublasOperation_t transb, Int m, Int n, const T* alpha, const T* a, Int lda,
                       const T* beta, const T* b, Int ldb, T* c, Int ldc) {
    return function(name, handle, [&](cublasContext& context) {
        const bool plain_a = transa == CUBLAS_OP_N, plain_b = transb == CUBLAS_OP_N;
        if (!is_operation(transa) || !is_operation(transb) || m < 0 || n < 0 || !alpha || !beta ||
            lda < std::max<Int>(1, plain_a ? m : n) || ldb < std::max<Int>(1, plain_b ? m : n) ||
            ldc < std::max<Int>(1, m) || (a == c && (!plain_a || lda != ldc)) ||
            (b == c && (!plain_b || ldb != ldc)))
            return CUBLAS_STATUS_INVALID_VALUE;
        if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(m, n, lda, ldb, ldc)) return too_large(name);
        const Scalar<T> first(alpha, context.scalars_on_device());
        const Scalar<T> second(beta, context.scalars_on_device());
        Operand in_a = matrix_of("A", a, plain_a ? m : n, plain_a ? n : m, lda);
        Operand in_b = matrix_of("B", b, plain_b ? m : n, plain_b ? n : m, ldb);
        // A matrix that is multiplied by 0 is not read, and may be a null pointer.
        if (first.is_certainly(T(0))) in_a = Operand{"A", nullptr};
        if (second.is_certainly(T(0))) in_b = Operand{"B", nullptr};
        return run(context,
                   name,
                   {in_a,
                    in_b,
                    written(matrix_of("C", c, m, n, ldc)),
                    first.operand("alpha"),
                    second.operand("beta")},
                   [=](std::byte* const* at) {
                       const T alpha_now = first.value(at[3]), beta_now = second.value(at[4]);
                       for (int64_t j = 0; j < n; ++j)
                           for (int64_t i = 0; i < m; ++i) {
                               const int64_t at_a = plain_a ? i + j * lda : j + i * lda;
                               const int64_t at_b = plain_b ? i + j * ldb : j + i * ldb;
                               T sum = 0;
                               if (alpha_now != T(0))
                                   sum += alpha_now * element(as<T>(at[0])[at_a], transa);
                               if (beta_now != T(0))
                                   sum += beta_now * element(as<T>(at[1])[at_b], transb);
                               as<T>(at[2])[i + j * ldc] = sum;
                           }
                   });
    });
}

}  // namespace
}  // namespace blas

using namespace blas;

#define PRODUCTS(T, P, INT, S)                                                                     \
    STAND_IN_API cublasStatus_t cublas##P##gemm_v2##S(cublasHandle_t handle,                       \
                                                      cublasOperation_t transa,                    \
                                                      cublasOperation_t transb,                    \
                                                      INT m,                                       \
                                                      INT n,                                       \
                                                      INT k,                                       \
                                                      const T* alpha,                              \
                                                      const T* A,                                  \
                                                      INT lda,                                     \
                                                      const T* B,                                  \
                                                      INT ldb,                                     \
                                                      const T* beta,                               \
                                                      T* C,                                        \
                                                      INT ldc) {                                   \
        const Shape<INT> shape{transa, transb, m, n, k, lda, ldb, ldc};                            \
        return do_gemm(                                                                            \
            "cublas" #P "gemm" #S, handle, shape, num(alpha), num(A), num(B), num(beta), num(C));  \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##gemmStridedBatched##S(cublasHandle_t handle,            \
                                                                 cublasOperation_t transa,         \
                                                                 cublasOperation_t transb,         \
                                                                 INT m,                            \
                                                                 INT n,                            \
                                                                 INT k,                            \
                                                                 const T* alpha,                   \
                                                                 const T* A,                       \
                                                                 INT lda,                          \
                                                                 long long int strideA,            \
                                                                 const T* B,                       \
                                                                 INT ldb,                          \
                                                                 long long int strideB,            \
                                                                 const T* beta,                    \
                                                                 T* C,                             \
                                                                 INT ldc,                          \
                                                                 long long int strideC,            \
                                                                 INT batchCount) {                 \
        const Shape<INT> shape{                                                                    \
            transa, transb, m, n, k, lda, ldb, ldc, strideA, strideB, strideC, batchCount};        \
        const char* name = "cublas" #P "gemmStridedBatched" #S;                                    \
        return do_gemm(name, handle, shape, num(alpha), num(A), num(B), num(beta), num(C));        \
    }

#define TRIANGLES(T, P, INT, S)                                                                    \
    STAND_IN_API cublasStatus_t cublas##P##trsm_v2##S(cublasHandle_t handle,                       \
                                                      cublasSideMode_t side,                       \
                                                      cublasFillMode_t uplo,                       \
                                                      cublasOperation_t trans,                     \
                                                      cublasDiagType_t diag,                       \
                                                      INT m,                                       \
                                                      INT n,                                       \
                                                      const T* alpha,                              \
                                                      const T* A,                                  \
                                                      INT lda,                                     \
                                                      T* B,                                        \
                                                      INT ldb) {                                   \
        const Triangle triangle{side, uplo, trans, diag};                                          \
        return do_trsm(                                                                            \
            "cublas" #P "trsm" #S, handle, triangle, m, n, num(alpha), num(A), lda, num(B), ldb);  \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##syrk_v2##S(cublasHandle_t handle,                       \
                                                      cublasFillMode_t uplo,                       \
                                                      cublasOperation_t trans,                     \
                                                      INT n,                                       \
                                                      INT k,                                       \
                                                      const T* alpha,                              \
                                                      const T* A,                                  \
                                                      INT lda,                                     \
                                                      const T* beta,                               \
                                                      T* C,                                        \
                                                      INT ldc) {                                   \
        const char* name = "cublas" #P "syrk" #S;                                                  \
        return do_syrk(                                                                            \
            name, handle, uplo, trans, n, k, num(alpha), num(A), lda, num(beta), num(C), ldc);     \
    }

#define SUMS(T, P, INT, S)                                                                         \
    STAND_IN_API cublasStatus_t cublas##P##geam##S(cublasHandle_t handle,                          \
                                                   cublasOperation_t transa,                       \
                                                   cublasOperation_t transb,                       \
                                                   INT m,                                          \
                                                   INT n,                                          \
                                                   const T* alpha,                                 \
                                                   const T* A,                                     \
                                                   INT lda,                                        \
                                                   const T* beta,                                  \
                                                   const T* B,                                     \
                                                   INT ldb,                                        \
                                                   T* C,                                           \
                                                   INT ldc) {                                      \
        const char* name = "cublas" #P "geam" #S;                                                  \
        return do_geam(name,                                                                       \
                       handle,                                                                     \
                       transa,                                                                     \
                       transb,                                                                     \
                       m,                                                                          \
                       n,                                                                          \
                       num(alpha),                                                                 \
                       num(A),                                                                     \
                       lda,                                                                        \
                       num(beta),                                                                  \
                       num(B),                                                                     \
                       ldb,                                                                        \
                       num(C),                                                                     \
                       ldc);                                                                       \
    }

#define LEVEL3(T, P, INT, S)                                                                       \
    PRODUCTS(T, P, INT, S)                                                                         \
    TRIANGLES(T, P, INT, S)                                                                        \
    SUMS(T, P, INT, S)

LEVEL3(float, S, int, )
LEVEL3(float, S, int64_t, _64)
LEVEL3(double, D, int, )
LEVEL3(double, D, int64_t, _64)
LEVEL3(cuComplex, C, int, )
LEVEL3(cuComplex, C, int64_t, _64)
LEVEL3(cuDoubleComplex, Z, int, )
LEVEL3(cuDoubleComplex, Z, int64_t, _64)
