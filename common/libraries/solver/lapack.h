// SPDX-License-Identifier: MIT
// LAPACK's functions under one name for both precisions. Matrices are column-major.
#pragma once

#include <lapacke.h>

namespace solver::lapack {

constexpr int kLayout = LAPACK_COL_MAJOR;

#define LAPACK_BOTH(T, p)                                                                          \
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
        return LAPACKE_##p##ormqr(kLayout, side, op, m, n, k, a, lda, tau, c, ldc);                \
    }                                                                                              \
    inline int gesvd(char u_job,                                                                   \
                     char vt_job,                                                                  \
                     int m,                                                                        \
                     int n,                                                                        \
                     T* a,                                                                         \
                     int lda,                                                                      \
                     T* s,                                                                         \
                     T* u,                                                                         \
                     int ldu,                                                                      \
                     T* vt,                                                                        \
                     int ldvt,                                                                     \
                     T* superdiagonal) {                                                           \
        return LAPACKE_##p##gesvd(                                                                 \
            kLayout, u_job, vt_job, m, n, a, lda, s, u, ldu, vt, ldvt, superdiagonal);             \
    }                                                                                              \
    inline int syevd(char job, char fill, int n, T* a, int lda, T* values) {                       \
        return LAPACKE_##p##syevd(kLayout, job, fill, n, a, lda, values);                          \
    }

LAPACK_BOTH(float, s)
LAPACK_BOTH(double, d)
#undef LAPACK_BOTH

inline char letter(cublasOperation_t op) {
    return op == CUBLAS_OP_N ? 'N' : 'T';
}
inline char letter(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
}
inline char letter(cublasSideMode_t side) {
    return side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
}

}  // namespace solver::lapack
