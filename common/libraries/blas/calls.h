// SPDX-License-Identifier: MIT
// BLAS's functions under one name for all types of numbers. Matrices are column-major.
#pragma once

#include <cblas.h>
#include <complex>

#include "cublas_v2.h"

namespace blas {

// cuBLAS's options as those of CBLAS.
inline CBLAS_TRANSPOSE to_cblas(cublasOperation_t op) {
    return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
inline CBLAS_UPLO to_cblas(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
inline CBLAS_SIDE to_cblas(cublasSideMode_t side) {
    return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}
inline CBLAS_DIAG to_cblas(cublasDiagType_t diagonal) {
    return diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}

// R: the type of magnitudes, whose functions have the letters N. BY: how CBLAS takes scalars.
#define BLAS_VECTORS(T, R, p, N, BY)                                                               \
    inline void axpy(int n, T a, const T* x, int incx, T* y, int incy) {                           \
        cblas_##p##axpy(n, BY a, x, incx, y, incy);                                                \
    }                                                                                              \
    inline R norm(int n, const T* x, int incx) {                                                   \
        return cblas_##N##nrm2(n, x, incx);                                                        \
    }                                                                                              \
    inline R absolute_sum(int n, const T* x, int incx) {                                           \
        return cblas_##N##asum(n, x, incx);                                                        \
    }
#define BLAS_MATRICES(T, p, BY)                                                                    \
    inline void gemv(cublasOperation_t op,                                                         \
                     int m,                                                                        \
                     int n,                                                                        \
                     T alpha,                                                                      \
                     const T* a,                                                                   \
                     int lda,                                                                      \
                     const T* x,                                                                   \
                     int incx,                                                                     \
                     T beta,                                                                       \
                     T* y,                                                                         \
                     int incy) {                                                                   \
        cblas_##p##gemv(                                                                           \
            CblasColMajor, to_cblas(op), m, n, BY alpha, a, lda, x, incx, BY beta, y, incy);       \
    }                                                                                              \
    inline void gemm(cublasOperation_t op_a,                                                       \
                     cublasOperation_t op_b,                                                       \
                     int m,                                                                        \
                     int n,                                                                        \
                     int k,                                                                        \
                     T alpha,                                                                      \
                     const T* a,                                                                   \
                     int lda,                                                                      \
                     const T* b,                                                                   \
                     int ldb,                                                                      \
                     T beta,                                                                       \
                     T* c,                                                                         \
                     int ldc) {                                                                    \
        cblas_##p##gemm(CblasColMajor,                                                             \
                        to_cblas(op_a),                                                            \
                        to_cblas(op_b),                                                            \
                        m,                                                                         \
                        n,                                                                         \
                        k,                                                                         \
                        BY alpha,                                                                  \
                        a,                                                                         \
                        lda,                                                                       \
                        b,                                                                         \
                        ldb,                                                                       \
                        BY beta,                                                                   \
                        c,                                                                         \
                        ldc);                                                                      \
    }                                                                                              \
    inline void trsm(cublasSideMode_t side,                                                        \
                     cublasFillMode_t fill,                                                        \
                     cublasOperation_t op,                                                         \
                     cublasDiagType_t diagonal,                                                    \
                     int m,                                                                        \
                     int n,                                                                        \
                     T alpha,                                                                      \
                     const T* a,                                                                   \
                     int lda,                                                                      \
                     T* b,                                                                         \
                     int ldb) {                                                                    \
        cblas_##p##trsm(CblasColMajor,                                                             \
                        to_cblas(side),                                                            \
                        to_cblas(fill),                                                            \
                        to_cblas(op),                                                              \
                        to_cblas(diagonal),                                                        \
                        m,                                                                         \
                        n,                                                                         \
                        BY alpha,                                                                  \
                        a,                                                                         \
                        lda,                                                                       \
                        b,                                                                         \
                        ldb);                                                                      \
    }                                                                                              \
    inline void syrk(cublasFillMode_t fill,                                                        \
                     cublasOperation_t op,                                                         \
                     int n,                                                                        \
                     int k,                                                                        \
                     T alpha,                                                                      \
                     const T* a,                                                                   \
                     int lda,                                                                      \
                     T beta,                                                                       \
                     T* c,                                                                         \
                     int ldc) {                                                                    \
        cblas_##p##syrk(                                                                           \
            CblasColMajor, to_cblas(fill), to_cblas(op), n, k, BY alpha, a, lda, BY beta, c, ldc); \
    }
BLAS_VECTORS(float, float, s, s, )
BLAS_VECTORS(double, double, d, d, )
BLAS_VECTORS(std::complex<float>, float, c, sc, &)
BLAS_VECTORS(std::complex<double>, double, z, dz, &)
BLAS_MATRICES(float, s, )
BLAS_MATRICES(double, d, )
BLAS_MATRICES(std::complex<float>, c, &)
BLAS_MATRICES(std::complex<double>, z, &)
#undef BLAS_VECTORS
#undef BLAS_MATRICES

// x y, and A += alpha x y^T. For complex numbers `kConjugate` says that one factor is conjugated: x
// of dot, and y of ger.
#define BLAS_REAL_PRODUCTS(T, p)                                                                   \
    template <bool kConjugate>                                                                     \
    T dot(int n, const T* x, int incx, const T* y, int incy) {                                     \
        return cblas_##p##dot(n, x, incx, y, incy);                                                \
    }                                                                                              \
    template <bool kConjugate>                                                                     \
    void ger(int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda) {   \
        cblas_##p##ger(CblasColMajor, m, n, alpha, x, incx, y, incy, a, lda);                      \
    }
#define BLAS_COMPLEX_PRODUCTS(T, p)                                                                \
    template <bool kConjugate>                                                                     \
    T dot(int n, const T* x, int incx, const T* y, int incy) {                                     \
        T sum;                                                                                     \
        (kConjugate ? cblas_##p##dotc_sub : cblas_##p##dotu_sub)(n, x, incx, y, incy, &sum);       \
        return sum;                                                                                \
    }                                                                                              \
    template <bool kConjugate>                                                                     \
    void ger(int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda) {   \
        (kConjugate ? cblas_##p##gerc                                                              \
                    : cblas_##p##geru)(CblasColMajor, m, n, &alpha, x, incx, y, incy, a, lda);     \
    }
BLAS_REAL_PRODUCTS(float, s)
BLAS_REAL_PRODUCTS(double, d)
BLAS_COMPLEX_PRODUCTS(std::complex<float>, c)
BLAS_COMPLEX_PRODUCTS(std::complex<double>, z)
#undef BLAS_REAL_PRODUCTS
#undef BLAS_COMPLEX_PRODUCTS

}  // namespace blas
