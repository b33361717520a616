// SPDX-License-Identifier: MIT
// cuSOLVER's approximate singular value decomposition of a batch of tall matrices, which are any
// distance apart.
#include "solver/svd.h"

namespace solver {
namespace {

// The part of gesvda's arguments that its _bufferSize gets, too.
bool is_approximate(const Batch& b) {
    const int rank = b.values;
    return is_matrix(b.m, b.n, b.lda) && b.m >= b.n && rank >= 1 && rank <= b.n && b.count >= 1 &&
           b.stride_a >= int64_t(b.lda) * b.n && b.stride_s >= rank &&
           (!b.vectors || (b.ldu >= b.m && b.ldv >= b.n && b.stride_u >= int64_t(b.ldu) * rank &&
                           b.stride_v >= int64_t(b.ldv) * rank));
}

template <class T>
cusolverStatus_t do_gesvda(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t mode,
                           const Batch& batch, const T* a, Magnitude<T>* s, T* u, T* v, T* work,
                           int lwork, int* info, double* residuals) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_mode(mode) || !is_approximate(batch) ||
            !large_enough(name, lwork, svd_work(batch.m, batch.n, batch.count)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        return run_svd<T>(context, name, batch, a, true, s, u, v, work, lwork, info, residuals);
    });
}

}  // namespace
}  // namespace solver

using namespace solver;

#define APPROXIMATE_SIZE(T, P)                                                                     \
    STAND_IN_API cusolverStatus_t cusolverDn##P##gesvdaStridedBatched_bufferSize(                  \
        cusolverDnHandle_t handle,                                                                 \
        cusolverEigMode_t jobz,                                                                    \
        int rank,                                                                                  \
        int m,                                                                                     \
        int n,                                                                                     \
        const T*,                                                                                  \
        int lda,                                                                                   \
        long long int strideA,                                                                     \
        const Real<T>*,                                                                            \
        long long int strideS,                                                                     \
        const T*,                                                                                  \
        int ldu,                                                                                   \
        long long int strideU,                                                                     \
        const T*,                                                                                  \
        int ldv,                                                                                   \
        long long int strideV,                                                                     \
        int* lwork,                                                                                \
        int batchSize) {                                                                           \
        const Batch batch{jobz == CUSOLVER_EIG_MODE_VECTOR,                                        \
                          m,                                                                       \
                          n,                                                                       \
                          lda,                                                                     \
                          ldu,                                                                     \
                          ldv,                                                                     \
                          rank,                                                                    \
                          rank,                                                                    \
                          rank,                                                                    \
                          strideA,                                                                 \
                          strideS,                                                                 \
                          strideU,                                                                 \
                          strideV,                                                                 \
                          batchSize};                                                              \
        return size("cusolverDn" #P "gesvdaStridedBatched_bufferSize",                             \
                    handle,                                                                        \
                    is_mode(jobz) && is_approximate(batch),                                        \
                    svd_work(m, n, batchSize),                                                     \
                    lwork);                                                                        \
    }

#define APPROXIMATE_COMPUTE(T, P)                                                                  \
    STAND_IN_API cusolverStatus_t cusolverDn##P##gesvdaStridedBatched(cusolverDnHandle_t handle,   \
                                                                      cusolverEigMode_t jobz,      \
                                                                      int rank,                    \
                                                                      int m,                       \
                                                                      int n,                       \
                                                                      const T* A,                  \
                                                                      int lda,                     \
                                                                      long long int strideA,       \
                                                                      Real<T>* S,                  \
                                                                      long long int strideS,       \
                                                                      T* U,                        \
                                                                      int ldu,                     \
                                                                      long long int strideU,       \
                                                                      T* V,                        \
                                                                      int ldv,                     \
                                                                      long long int strideV,       \
                                                                      T* work,                     \
                                                                      int lwork,                   \
                                                                      int* info,                   \
                                                                      double* h_R_nrmF,            \
                                                                      int batchSize) {             \
        const Batch batch{jobz == CUSOLVER_EIG_MODE_VECTOR,                                        \
                          m,                                                                       \
                          n,                                                                       \
                          lda,                                                                     \
                          ldu,                                                                     \
                          ldv,                                                                     \
                          rank,                                                                    \
                          rank,                                                                    \
                          rank,                                                                    \
                          strideA,                                                                 \
                          strideS,                                                                 \
                          strideU,                                                                 \
                          strideV,                                                                 \
                          batchSize};                                                              \
        return do_gesvda("cusolverDn" #P "gesvdaStridedBatched",                                   \
                         handle,                                                                   \
                         jobz,                                                                     \
                         batch,                                                                    \
                         num(A),                                                                   \
                         S,                                                                        \
                         num(U),                                                                   \
                         num(V),                                                                   \
                         num(work),                                                                \
                         lwork,                                                                    \
                         info,                                                                     \
                         h_R_nrmF);                                                                \
    }

#define APPROXIMATE(T, P)                                                                          \
    APPROXIMATE_SIZE(T, P)                                                                         \
    APPROXIMATE_COMPUTE(T, P)

APPROXIMATE(float, S)
APPROXIMATE(double, D)
APPROXIMATE(cuComplex, C)
APPROXIMATE(cuDoubleComplex, Z)
