// SPDX-License-Identifier: MIT
// cuSOLVER's singular value decomposition by Jacobi's method, of one matrix and of a batch.
#include "solver/svd.h"

// The parameters of Jacobi's method; LAPACK's needs none, and sorts always.
struct gesvdjInfo {};

namespace solver {
namespace {

constexpr int kMostBatchedRows = 32;  // "cusolverDn<t>gesvdjBatched()"

stand_in::Handles<gesvdjInfo>& gesvdj_parameters() {
    static auto& instance = *new stand_in::Handles<gesvdjInfo>;
    return instance;
}

bool is_jacobi(cusolverEigMode_t mode, int m, int n, int lda, int ldu, int ldv,
               gesvdjInfo_t params) {
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
    return is_mode(mode) && is_matrix(m, n, lda) && ldu >= (vectors ? std::max(1, m) : 1) &&
           ldv >= (vectors ? std::max(1, n) : 1) && gesvdj_parameters().has(params);
}

template <class T>
cusolverStatus_t do_gesvdj(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t mode,
                           int econ, int m, int n, T* a, int lda, Magnitude<T>* s, T* u, int ldu,
                           T* v, int ldv, T* work, int lwork, int* info, gesvdjInfo_t params) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_jacobi(mode, m, n, lda, ldu, ldv, params) ||
            !large_enough(name, lwork, svd_work(m, n, 1)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        if (m == 0 || n == 0) return CUSOLVER_STATUS_SUCCESS;
        const int rank = std::min(m, n);
        const Batch batch{mode == CUSOLVER_EIG_MODE_VECTOR,
                          m,
                          n,
                          lda,
                          ldu,
                          ldv,
                          rank,
                          econ ? rank : m,
                          econ ? rank : n};
        return run_svd<T>(context, name, batch, a, false, s, u, v, work, lwork, info, nullptr);
    });
}

template <class T>
cusolverStatus_t do_gesvdj_batched(const char* name, cusolverDnHandle_t handle,
                                   cusolverEigMode_t mode, int m, int n, T* a, int lda,
                                   Magnitude<T>* s, T* u, int ldu, T* v, int ldv, T* work,
                                   int lwork, int* info, gesvdjInfo_t params, int count) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_jacobi(mode, m, n, lda, ldu, ldv, params) || m > kMostBatchedRows ||
            n > kMostBatchedRows || count < 0 || !large_enough(name, lwork, svd_work(m, n, count)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        if (m == 0 || n == 0 || count == 0) return CUSOLVER_STATUS_SUCCESS;
        const int rank = std::min(m, n);
        const Batch batch{mode == CUSOLVER_EIG_MODE_VECTOR,
                          m,
                          n,
                          lda,
                          ldu,
                          ldv,
                          rank,
                          m,
                          n,
                          int64_t(lda) * n,
                          rank,
                          int64_t(ldu) * m,
                          int64_t(ldv) * n,
                          count};
        return run_svd<T>(context, name, batch, a, false, s, u, v, work, lwork, info, nullptr);
    });
}

}  // namespace
}  // namespace solver

using namespace solver;

STAND_IN_API cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info) {
    if (!info) return finish("cusolverDnCreateGesvdjInfo", CUSOLVER_STATUS_INVALID_VALUE);
    *info = gesvdj_parameters().add(new gesvdjInfo);
    return CUSOLVER_STATUS_SUCCESS;
}
STAND_IN_API cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info) {
    if (!gesvdj_parameters().remove(info))
        return finish("cusolverDnDestroyGesvdjInfo", CUSOLVER_STATUS_INVALID_VALUE);
    delete info;
    return CUSOLVER_STATUS_SUCCESS;
}

#define JACOBI_ONE(T, P)                                                                           \
    STAND_IN_API cusolverStatus_t cusolverDn##P##gesvdj_bufferSize(cusolverDnHandle_t handle,      \
                                                                   cusolverEigMode_t jobz,         \
                                                                   int,                            \
                                                                   int m,                          \
                                                                   int n,                          \
                                                                   const T*,                       \
                                                                   int lda,                        \
                                                                   const Real<T>*,                 \
                                                                   const T*,                       \
                                                                   int ldu,                        \
                                                                   const T*,                       \
                                                                   int ldv,                        \
                                                                   int* lwork,                     \
                                                                   gesvdjInfo_t params) {          \
        return size("cusolverDn" #P "gesvdj_bufferSize",                                           \
                    handle,                                                                        \
                    is_jacobi(jobz, m, n, lda, ldu, ldv, params),                                  \
                    svd_work(m, n, 1),                                                             \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##gesvdj(cusolverDnHandle_t handle,                 \
                                                        cusolverEigMode_t jobz,                    \
                                                        int econ,                                  \
                                                        int m,                                     \
                                                        int n,                                     \
                                                        T* A,                                      \
                                                        int lda,                                   \
                                                        Real<T>* S,                                \
                                                        T* U,                                      \
                                                        int ldu,                                   \
                                                        T* V,                                      \
                                                        int ldv,                                   \
                                                        T* work,                                   \
                                                        int lwork,                                 \
                                                        int* info,                                 \
                                                        gesvdjInfo_t params) {                     \
        return do_gesvdj("cusolverDn" #P "gesvdj",                                                 \
                         handle,                                                                   \
                         jobz,                                                                     \
                         econ,                                                                     \
                         m,                                                                        \
                         n,                                                                        \
                         num(A),                                                                   \
                         lda,                                                                      \
                         S,                                                                        \
                         num(U),                                                                   \
                         ldu,                                                                      \
                         num(V),                                                                   \
                         ldv,                                                                      \
                         num(work),                                                                \
                         lwork,                                                                    \
                         info,                                                                     \
                         params);                                                                  \
    }

#define JACOBI_BATCHED(T, P)                                                                       \
    STAND_IN_API cusolverStatus_t cusolverDn##P##gesvdjBatched_bufferSize(                         \
        cusolverDnHandle_t handle,                                                                 \
        cusolverEigMode_t jobz,                                                                    \
        int m,                                                                                     \
        int n,                                                                                     \
        const T*,                                                                                  \
        int lda,                                                                                   \
        const Real<T>*,                                                                            \
        const T*,                                                                                  \
        int ldu,                                                                                   \
        const T*,                                                                                  \
        int ldv,                                                                                   \
        int* lwork,                                                                                \
        gesvdjInfo_t params,                                                                       \
        int batchSize) {                                                                           \
        return size("cusolverDn" #P "gesvdjBatched_bufferSize",                                    \
                    handle,                                                                        \
                    is_jacobi(jobz, m, n, lda, ldu, ldv, params) && m <= kMostBatchedRows &&       \
                        n <= kMostBatchedRows && batchSize >= 0,                                   \
                    svd_work(m, n, batchSize),                                                     \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##gesvdjBatched(cusolverDnHandle_t handle,          \
                                                               cusolverEigMode_t jobz,             \
                                                               int m,                              \
                                                               int n,                              \
                                                               T* A,                               \
                                                               int lda,                            \
                                                               Real<T>* S,                         \
                                                               T* U,                               \
                                                               int ldu,                            \
                                                               T* V,                               \
                                                               int ldv,                            \
                                                               T* work,                            \
                                                               int lwork,                          \
                                                               int* info,                          \
                                                               gesvdjInfo_t params,                \
                                                               int batchSize) {                    \
        return do_gesvdj_batched("cusolverDn" #P "gesvdjBatched",                                  \
                                 handle,                                                           \
                                 jobz,                                                             \
                                 m,                                                                \
                                 n,                                                                \
                                 num(A),                                                           \
                                 lda,                                                              \
                                 S,                                                                \
                                 num(U),                                                           \
                                 ldu,                                                              \
                                 num(V),                                                           \
                                 ldv,                                                              \
                                 num(work),                                                        \
                                 lwork,                                                            \
                                 info,                                                             \
                                 params,                                                           \
                                 batchSize);                                                       \
    }

#define JACOBI(T, P)                                                                               \
    JACOBI_ONE(T, P)                                                                               \
    JACOBI_BATCHED(T, P)

JACOBI(float, S)
JACOBI(double, D)
JACOBI(cuComplex, C)
JACOBI(cuDoubleComplex, Z)
