// SPDX-License-Identifier: MIT
// cuSOLVER's linear systems: LU, Cholesky and QR factorisations, and their solvers.
#include "solver/handle.h"
#include "solver/lapack.h"

namespace solver {
namespace {

bool is_operation(cublasOperation_t op) {
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

// Whether `pivots` may be what getrf has stored: rows from 1 to n. LAPACK would follow any number.
bool are_pivots(const char* name, const int* pivots, int n) {
    for (int i = 0; i < n; ++i) {
        if (pivots[i] > i && pivots[i] <= n) continue;
        emulatorLibraryMisuse(name,
                              "pivots",
                              '`' + std::string(name) + "` gets devIpiv[" + std::to_string(i) +
                                  "] = " + std::to_string(pivots[i]) +
                                  ", which is no row that getrf has stored there: was the matrix "
                                  "factorised, with the same devIpiv?");
        return false;
    }
    return true;
}

template <class T>
cusolverStatus_t do_getrf(const char* name, cusolverDnHandle_t handle, int m, int n, T* a, int lda,
                          T* work, int* pivots, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_matrix(m, n, lda)) return CUSOLVER_STATUS_INVALID_VALUE;
        const int rank = std::min(m, n);
        // A null pointer requests no pivoting, for which LAPACK has no function.
        if (!pivots) return CUSOLVER_STATUS_NOT_SUPPORTED;
        return run(context,
                   name,
                   {updated(matrix_of("A", a, m, n, lda)),
                    written(vector_of("Workspace", work, panel(n))),
                    written(vector_of("devIpiv", pivots, rank)),
                    written(vector_of("devInfo", info, 1))},
                   [=](std::byte* const* at) {
                       store_info(at[3], lapack::getrf(m, n, as<T>(at[0]), lda, as<int>(at[2])));
                   });
    });
}

template <class T>
cusolverStatus_t do_getrs(const char* name, cusolverDnHandle_t handle, cublasOperation_t op, int n,
                          int columns, const T* a, int lda, const int* pivots, T* b, int ldb,
                          int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_operation(op) || !is_matrix(n, n, lda) || !is_matrix(n, columns, ldb))
            return CUSOLVER_STATUS_INVALID_VALUE;
        return run(context,
                   name,
                   {matrix_of("A", a, n, n, lda),
                    vector_of("devIpiv", pivots, n),
                    updated(matrix_of("B", b, n, columns, ldb)),
                    written(vector_of("devInfo", info, 1))},
                   [=](std::byte* const* at) {
                       if (!are_pivots(name, as<int>(at[1]), n)) return;
                       store_info(at[3],
                                  lapack::getrs(lapack::letter<T>(op),
                                                n,
                                                columns,
                                                as<T>(at[0]),
                                                lda,
                                                as<int>(at[1]),
                                                as<T>(at[2]),
                                                ldb));
                   });
    });
}

template <class T>
cusolverStatus_t do_potrf(const char* name, cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                          T* a, int lda, T* work, int lwork, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_fill(fill) || !is_matrix(n, n, lda) || !large_enough(name, lwork, panel(n)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        return run(context,
                   name,
                   {updated(triangle("A", a, sizeof(T), n, lda, fill)),
                    written(vector_of("Workspace", work, lwork)),
                    written(vector_of("devInfo", info, 1))},
                   [=](std::byte* const* at) {
                       store_info(at[2], lapack::potrf(lapack::letter(fill), n, as<T>(at[0]), lda));
                   });
    });
}

template <class T>
cusolverStatus_t do_potrs(const char* name, cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                          int columns, const T* a, int lda, T* b, int ldb, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_fill(fill) || !is_matrix(n, n, lda) || !is_matrix(n, columns, ldb))
            return CUSOLVER_STATUS_INVALID_VALUE;
        return run(context,
                   name,
                   {triangle("A", a, sizeof(T), n, lda, fill),
                    updated(matrix_of("B", b, n, columns, ldb)),
                    written(vector_of("devInfo", info, 1))},
                   [=](std::byte* const* at) {
                       const char letter = lapack::letter(fill);
                       store_info(
                           at[2],
                           lapack::potrs(letter, n, columns, as<T>(at[0]), lda, as<T>(at[1]), ldb));
                   });
    });
}

template <class T>
cusolverStatus_t do_geqrf(const char* name, cusolverDnHandle_t handle, int m, int n, T* a, int lda,
                          T* tau, T* work, int lwork, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_matrix(m, n, lda) || !large_enough(name, lwork, panel(n)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        return run(context,
                   name,
                   {updated(matrix_of("A", a, m, n, lda)),
                    written(vector_of("TAU", tau, std::min(m, n))),
                    written(vector_of("Workspace", work, lwork)),
                    written(vector_of("devInfo", info, 1))},
                   [=](std::byte* const* at) {
                       store_info(at[3], lapack::geqrf(m, n, as<T>(at[0]), lda, as<T>(at[1])));
                   });
    });
}

template <class T>
cusolverStatus_t do_ormqr(const char* name, cusolverDnHandle_t handle, cublasSideMode_t side,
                          cublasOperation_t op, int m, int n, int k, const T* a, int lda,
                          const T* tau, T* c, int ldc, T* work, int lwork, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        const int order = side == CUBLAS_SIDE_LEFT ? m : n;
        const int other = side == CUBLAS_SIDE_LEFT ? n : m;
        if (!is_operation(op) || !is_matrix(order, k, lda) || !is_matrix(m, n, ldc) || k > order ||
            !large_enough(name, lwork, panel(other)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        Operand reflectors = matrix_of("A", a, order, k, lda);
        reflectors.part = Operand::Part::kAfterDiagonal;
        return run(context,
                   name,
                   {reflectors,
                    vector_of("tau", tau, k),
                    updated(matrix_of("C", c, m, n, ldc)),
                    written(vector_of("work", work, lwork)),
                    written(vector_of("devInfo", info, 1))},
                   [=](std::byte* const* at) {
                       store_info(at[4],
                                  lapack::ormqr(lapack::letter(side),
                                                lapack::letter<T>(op),
                                                m,
                                                n,
                                                k,
                                                as<T>(at[0]),
                                                lda,
                                                as<T>(at[1]),
                                                as<T>(at[2]),
                                                ldc));
                   });
    });
}

// Stores the first n columns of Q, of which geqrf has stored k reflectors.
template <class T>
cusolverStatus_t do_orgqr(const char* name, cusolverDnHandle_t handle, int m, int n, int k, T* a,
                          int lda, const T* tau, T* work, int lwork, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_matrix(m, n, lda) || n > m || k < 0 || k > n ||
            !large_enough(name, lwork, panel(n)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        Operand reflectors = matrix_of("A", a, m, k, lda);
        reflectors.part = Operand::Part::kAfterDiagonal;
        return run(context,
                   name,
                   {reflectors,
                    written(matrix_of("A", a, m, n, lda)),
                    vector_of("tau", tau, k),
                    written(vector_of("work", work, lwork)),
                    written(vector_of("info", info, 1))},
                   [=](std::byte* const* at) {
                       store_info(at[4], lapack::orgqr(m, n, k, as<T>(at[1]), lda, as<T>(at[2])));
                   });
    });
}

}  // namespace
}  // namespace solver

using namespace solver;

#define LU(T, P)                                                                                   \
    STAND_IN_API cusolverStatus_t cusolverDn##P##getrf_bufferSize(                                 \
        cusolverDnHandle_t handle, int m, int n, T*, int lda, int* Lwork) {                        \
        return size(                                                                               \
            "cusolverDn" #P "getrf_bufferSize", handle, is_matrix(m, n, lda), panel(n), Lwork);    \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##getrf(cusolverDnHandle_t handle,                  \
                                                       int m,                                      \
                                                       int n,                                      \
                                                       T* A,                                       \
                                                       int lda,                                    \
                                                       T* Workspace,                               \
                                                       int* devIpiv,                               \
                                                       int* devInfo) {                             \
        const char* name = "cusolverDn" #P "getrf";                                                \
        return do_getrf(name, handle, m, n, num(A), lda, num(Workspace), devIpiv, devInfo);        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##getrs(cusolverDnHandle_t handle,                  \
                                                       cublasOperation_t trans,                    \
                                                       int n,                                      \
                                                       int nrhs,                                   \
                                                       const T* A,                                 \
                                                       int lda,                                    \
                                                       const int* devIpiv,                         \
                                                       T* B,                                       \
                                                       int ldb,                                    \
                                                       int* devInfo) {                             \
        const char* name = "cusolverDn" #P "getrs";                                                \
        return do_getrs(name, handle, trans, n, nrhs, num(A), lda, devIpiv, num(B), ldb, devInfo); \
    }

#define CHOLESKY(T, P)                                                                             \
    STAND_IN_API cusolverStatus_t cusolverDn##P##potrf_bufferSize(                                 \
        cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T*, int lda, int* Lwork) {        \
        return size("cusolverDn" #P "potrf_bufferSize",                                            \
                    handle,                                                                        \
                    is_fill(uplo) && is_matrix(n, n, lda),                                         \
                    panel(n),                                                                      \
                    Lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##potrf(cusolverDnHandle_t handle,                  \
                                                       cublasFillMode_t uplo,                      \
                                                       int n,                                      \
                                                       T* A,                                       \
                                                       int lda,                                    \
                                                       T* Workspace,                               \
                                                       int Lwork,                                  \
                                                       int* devInfo) {                             \
        const char* name = "cusolverDn" #P "potrf";                                                \
        return do_potrf(name, handle, uplo, n, num(A), lda, num(Workspace), Lwork, devInfo);       \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##potrs(cusolverDnHandle_t handle,                  \
                                                       cublasFillMode_t uplo,                      \
                                                       int n,                                      \
                                                       int nrhs,                                   \
                                                       const T* A,                                 \
                                                       int lda,                                    \
                                                       T* B,                                       \
                                                       int ldb,                                    \
                                                       int* devInfo) {                             \
        const char* name = "cusolverDn" #P "potrs";                                                \
        return do_potrs(name, handle, uplo, n, nrhs, num(A), lda, num(B), ldb, devInfo);           \
    }

// cuSOLVER's geqrf_bufferSize does not compare lda with m: CuPy passes n there.
#define QR(T, P)                                                                                   \
    STAND_IN_API cusolverStatus_t cusolverDn##P##geqrf_bufferSize(                                 \
        cusolverDnHandle_t handle, int m, int n, T*, int lda, int* lwork) {                        \
        return size("cusolverDn" #P "geqrf_bufferSize",                                            \
                    handle,                                                                        \
                    m >= 0 && n >= 0 && lda >= 1,                                                  \
                    panel(n),                                                                      \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##geqrf(cusolverDnHandle_t handle,                  \
                                                       int m,                                      \
                                                       int n,                                      \
                                                       T* A,                                       \
                                                       int lda,                                    \
                                                       T* TAU,                                     \
                                                       T* Workspace,                               \
                                                       int Lwork,                                  \
                                                       int* devInfo) {                             \
        const char* name = "cusolverDn" #P "geqrf";                                                \
        return do_geqrf(                                                                           \
            name, handle, m, n, num(A), lda, num(TAU), num(Workspace), Lwork, devInfo);            \
    }

#define SYSTEMS(T, P)                                                                              \
    LU(T, P)                                                                                       \
    CHOLESKY(T, P)                                                                                 \
    QR(T, P)

// MQR multiplies by Q, GQR stores it.
#define REFLECTIONS(T, P, MQR, GQR)                                                                \
    STAND_IN_API cusolverStatus_t cusolverDn##P##MQR##_bufferSize(cusolverDnHandle_t handle,       \
                                                                  cublasSideMode_t side,           \
                                                                  cublasOperation_t trans,         \
                                                                  int m,                           \
                                                                  int n,                           \
                                                                  int k,                           \
                                                                  const T*,                        \
                                                                  int lda,                         \
                                                                  const T*,                        \
                                                                  const T*,                        \
                                                                  int ldc,                         \
                                                                  int* lwork) {                    \
        const bool left = side == CUBLAS_SIDE_LEFT;                                                \
        return size("cusolverDn" #P #MQR "_bufferSize",                                            \
                    handle,                                                                        \
                    is_operation(trans) && is_matrix(left ? m : n, k, lda) &&                      \
                        is_matrix(m, n, ldc),                                                      \
                    panel(left ? n : m),                                                           \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##MQR(cusolverDnHandle_t handle,                    \
                                                     cublasSideMode_t side,                        \
                                                     cublasOperation_t trans,                      \
                                                     int m,                                        \
                                                     int n,                                        \
                                                     int k,                                        \
                                                     const T* A,                                   \
                                                     int lda,                                      \
                                                     const T* tau,                                 \
                                                     T* C,                                         \
                                                     int ldc,                                      \
                                                     T* work,                                      \
                                                     int lwork,                                    \
                                                     int* devInfo) {                               \
        const char* name = "cusolverDn" #P #MQR;                                                   \
        return do_ormqr(name,                                                                      \
                        handle,                                                                    \
                        side,                                                                      \
                        trans,                                                                     \
                        m,                                                                         \
                        n,                                                                         \
                        k,                                                                         \
                        num(A),                                                                    \
                        lda,                                                                       \
                        num(tau),                                                                  \
                        num(C),                                                                    \
                        ldc,                                                                       \
                        num(work),                                                                 \
                        lwork,                                                                     \
                        devInfo);                                                                  \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##GQR##_bufferSize(                                 \
        cusolverDnHandle_t handle, int m, int n, int k, const T*, int lda, const T*, int* lwork) { \
        return size("cusolverDn" #P #GQR "_bufferSize",                                            \
                    handle,                                                                        \
                    is_matrix(m, n, lda) && n <= m && k >= 0 && k <= n,                            \
                    panel(n),                                                                      \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##GQR(cusolverDnHandle_t handle,                    \
                                                     int m,                                        \
                                                     int n,                                        \
                                                     int k,                                        \
                                                     T* A,                                         \
                                                     int lda,                                      \
                                                     const T* tau,                                 \
                                                     T* work,                                      \
                                                     int lwork,                                    \
                                                     int* info) {                                  \
        const char* name = "cusolverDn" #P #GQR;                                                   \
        return do_orgqr(name, handle, m, n, k, num(A), lda, num(tau), num(work), lwork, info);     \
    }

SYSTEMS(float, S)
SYSTEMS(double, D)
SYSTEMS(cuComplex, C)
SYSTEMS(cuDoubleComplex, Z)
REFLECTIONS(float, S, ormqr, orgqr)
REFLECTIONS(double, D, ormqr, orgqr)
REFLECTIONS(cuComplex, C, unmqr, ungqr)
REFLECTIONS(cuDoubleComplex, Z, unmqr, ungqr)
