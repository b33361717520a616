// SPDX-License-Identifier: MIT
// LAPACK's functions under one name for all types of numbers. Matrices are column-major.
#pragma once

#include <complex>
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include <type_traits>

namespace solver::lapack {

constexpr int kLayout = LAPACK_COL_MAJOR;

// `R`: the type of magnitudes. The last three have other names for complex matrices.
#define LAPACK_FUNCTIONS(T, R, p, ormqr_, orgqr_, syevd_)                                          \
    inline int getrf(int m, int n, T* a, int lda, int* pivots) {                                   \
        return LAPACKE_##p##getrf(kLayout, m, n, a, lda, pivots);                                  \
    }                                                                                              \
    inline int getrs(                                                                              \
        char op, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb) {      \
        return LAPACKE_##p##getrs(kLayout, op, n, columns, a, lda, pivots, b, ldb);                \
    }                                                                                              \
    inline int potrf(char fill, int n, T* a, int lda) {                                            \
        return LAPACKE_##p##potrf(kLayout, fill, n, a, lda);                                       \
    }                                                                                              \
    inline int potrs(char fill, int n, int columns, const T* a, int lda, T* b, int ldb) {          \
        return LAPACKE_##p##potrs(kLayout, fill, n, columns, a, lda, b, ldb);                      \
    }                                                                                              \
    inline int geqrf(int m, int n, T* a, int lda, T* tau) {                                        \
        return LAPACKE_##p##geqrf(kLayout, m, n, a, lda, tau);                                     \
    }                                                                                              \
    inline int ormqr(char side,                                                                    \
                     char op,                                                                      \
                     int m,                                                                        \
                     int n,                                                                        \
                     int k,                                                                        \
                     const T* a,                                                                   \
                     int lda,                                                                      \
                     const T* tau,                                                                 \
                     T* c,                                                                         \
                     int ldc) {                                                                    \
        return LAPACKE_##p##ormqr_(kLayout, side, op, m, n, k, a, lda, tau, c, ldc);               \
    }                                                                                              \
    inline int orgqr(int m, int n, int k, T* a, int lda, const T* tau) {                           \
        return LAPACKE_##p##orgqr_(kLayout, m, n, k, a, lda, tau);                                 \
    }                                                                                              \
    inline int gesvd(char u_job,                                                                   \
                     char vt_job,                                                                  \
                     int m,                                                                        \
                     int n,                                                                        \
                     T* a,                                                                         \
                     int lda,                                                                      \
                     R* s,                                                                         \
                     T* u,                                                                         \
                     int ldu,                                                                      \
                     T* vt,                                                                        \
                     int ldvt,                                                                     \
                     R* superdiagonal) {                                                           \
        return LAPACKE_##p##gesvd(                                                                 \
            kLayout, u_job, vt_job, m, n, a, lda, s, u, ldu, vt, ldvt, superdiagonal);             \
    }                                                                                              \
    inline int syevd(char job, char fill, int n, T* a, int lda, R* values) {                       \
        return LAPACKE_##p##syevd_(kLayout, job, fill, n, a, lda, values);                         \
    }

LAPACK_FUNCTIONS(float, float, s, ormqr, orgqr, syevd)
LAPACK_FUNCTIONS(double, double, d, ormqr, orgqr, syevd)
LAPACK_FUNCTIONS(std::complex<float>, float, c, unmqr, ungqr, heevd)
LAPACK_FUNCTIONS(std::complex<double>, double, z, unmqr, ungqr, heevd)
#undef LAPACK_FUNCTIONS

// Eigenvalues and right eigenvectors of any matrix; real and imaginary parts apart if it is real.
#define LAPACK_GEEV_REAL(T, p)                                                                     \
    inline int geev(char job, int n, T* a, int lda, T* real, T* imaginary, T* v, int ldv) {        \
        T none{};                                                                                  \
        return LAPACKE_##p##geev(kLayout, 'N', job, n, a, lda, real, imaginary, &none, 1, v, ldv); \
    }
#define LAPACK_GEEV_COMPLEX(T, p)                                                                  \
    inline int geev(char job, int n, T* a, int lda, T* values, T* v, int ldv) {                    \
        T none{};                                                                                  \
        return LAPACKE_##p##geev(kLayout, 'N', job, n, a, lda, values, &none, 1, v, ldv);          \
    }
LAPACK_GEEV_REAL(float, s)
LAPACK_GEEV_REAL(double, d)
LAPACK_GEEV_COMPLEX(std::complex<float>, c)
LAPACK_GEEV_COMPLEX(std::complex<double>, z)
#undef LAPACK_GEEV_REAL
#undef LAPACK_GEEV_COMPLEX

// For real numbers a conjugate transpose is a transpose, and must be called that.
template <class T>
char letter(cublasOperation_t op) {
    if (op == CUBLAS_OP_N) return 'N';
    return op == CUBLAS_OP_C && !std::is_floating_point_v<T> ? 'C' : 'T';
}
inline char letter(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
}
inline char letter(cublasSideMode_t side) {
    return side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
}

}  // namespace solver::lapack
