// SPDX-License-Identifier: MIT
// cuSOLVER's eigenvalues of symmetric or Hermitian matrices by Jacobi's method: of one, and of a
// batch of matrices that follow each other.
#include "solver/handle.h"
#include "solver/lapack.h"

// The parameters of Jacobi's method; LAPACK's needs none, and sorts always.
struct syevjInfo {};

namespace solver {
namespace {

stand_in::Handles<syevjInfo>& syevj_parameters() {
    static auto& instance = *new stand_in::Handles<syevjInfo>;
    return instance;
}

int batch_work(int n, int batch) {
    return std::max(1, n * std::max(1, batch));
}

template <class T>
cusolverStatus_t do_syevj(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t mode,
                          cublasFillMode_t fill, int n, T* a, int lda,
                          decltype(std::abs(T()))* values, T* work, int lwork, int* info,
                          syevjInfo_t params, int batch) {
    using Magnitude = decltype(std::abs(T()));
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_matrix(n, n, lda) || !is_fill(fill) || batch < 0 ||
            !syevj_parameters().has(params) || !large_enough(name, lwork, batch_work(n, batch)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        if (n == 0 || batch == 0) return CUSOLVER_STATUS_SUCCESS;
        const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
        Operand in = matrix_of("A", a, n, n, lda);
        in.slices = uint64_t(batch);
        in.slice_pitch = uint64_t(n) * uint64_t(lda) * sizeof(T);
        Operand out = written(in);
        in.part = fill == CUBLAS_FILL_MODE_LOWER ? Operand::Part::kFromDiagonal
                                                 : Operand::Part::kToDiagonal;
        if (!vectors) out.part = in.part;
        return run(context,
                   name,
                   {in,
                    out,
                    written(vector_of("W", values, int64_t(n) * batch)),
                    written(vector_of("work", work, lwork)),
                    written(vector_of("info", info, batch))},
                   [=](std::byte* const* at) {
                       for (int i = 0; i < batch; ++i)
                           store_info(at[4] + size_t(i) * sizeof(int),
                                      lapack::syevd(vectors ? 'V' : 'N',
                                                    lapack::letter(fill),
                                                    n,
                                                    as<T>(at[0]) + int64_t(i) * n * lda,
                                                    lda,
                                                    as<Magnitude>(at[2]) + int64_t(i) * n));
                   });
    });
}

}  // namespace
}  // namespace solver

using namespace solver;

STAND_IN_API cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info) {
    if (!info) return finish("cusolverDnCreateSyevjInfo", CUSOLVER_STATUS_INVALID_VALUE);
    *info = syevj_parameters().add(new syevjInfo);
    return CUSOLVER_STATUS_SUCCESS;
}
STAND_IN_API cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info) {
    if (!syevj_parameters().remove(info))
        return finish("cusolverDnDestroySyevjInfo", CUSOLVER_STATUS_INVALID_VALUE);
    delete info;
    return CUSOLVER_STATUS_SUCCESS;
}

// EVJ: syevj, or heevj for complex matrices.
#define EIGEN_JACOBI(T, P, EVJ)                                                                    \
    STAND_IN_API cusolverStatus_t cusolverDn##P##EVJ##_bufferSize(cusolverDnHandle_t handle,       \
                                                                  cusolverEigMode_t,               \
                                                                  cublasFillMode_t uplo,           \
                                                                  int n,                           \
                                                                  const T*,                        \
                                                                  int lda,                         \
                                                                  const Real<T>*,                  \
                                                                  int* lwork,                      \
                                                                  syevjInfo_t params) {            \
        return size("cusolverDn" #P #EVJ "_bufferSize",                                            \
                    handle,                                                                        \
                    is_matrix(n, n, lda) && is_fill(uplo) && syevj_parameters().has(params),       \
                    batch_work(n, 1),                                                              \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##EVJ(cusolverDnHandle_t handle,                    \
                                                     cusolverEigMode_t jobz,                       \
                                                     cublasFillMode_t uplo,                        \
                                                     int n,                                        \
                                                     T* A,                                         \
                                                     int lda,                                      \
                                                     Real<T>* W,                                   \
                                                     T* work,                                      \
                                                     int lwork,                                    \
                                                     int* info,                                    \
                                                     syevjInfo_t params) {                         \
        const char* name = "cusolverDn" #P #EVJ;                                                   \
        return do_syevj(                                                                           \
            name, handle, jobz, uplo, n, num(A), lda, W, num(work), lwork, info, params, 1);       \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##EVJ##Batched_bufferSize(                          \
        cusolverDnHandle_t handle,                                                                 \
        cusolverEigMode_t,                                                                         \
        cublasFillMode_t,                                                                          \
        int n,                                                                                     \
        const T*,                                                                                  \
        int lda,                                                                                   \
        const Real<T>*,                                                                            \
        int* lwork,                                                                                \
        syevjInfo_t,                                                                               \
        int batchSize) {                                                                           \
        return size("cusolverDn" #P #EVJ "Batched_bufferSize",                                     \
                    handle,                                                                        \
                    is_matrix(n, n, lda) && batchSize >= 0,                                        \
                    batch_work(n, batchSize),                                                      \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##EVJ##Batched(cusolverDnHandle_t handle,           \
                                                              cusolverEigMode_t jobz,              \
                                                              cublasFillMode_t uplo,               \
                                                              int n,                               \
                                                              T* A,                                \
                                                              int lda,                             \
                                                              Real<T>* W,                          \
                                                              T* work,                             \
                                                              int lwork,                           \
                                                              int* info,                           \
                                                              syevjInfo_t params,                  \
                                                              int batchSize) {                     \
        return do_syevj("cusolverDn" #P #EVJ "Batched",                                            \
                        handle,                                                                    \
                        jobz,                                                                      \
                        uplo,                                                                      \
                        n,                                                                         \
                        num(A),                                                                    \
                        lda,                                                                       \
                        W,                                                                         \
                        num(work),                                                                 \
                        lwork,                                                                     \
                        info,                                                                      \
                        params,                                                                    \
                        batchSize);                                                                \
    }

EIGEN_JACOBI(float, S, syevj)
EIGEN_JACOBI(double, D, syevj)
EIGEN_JACOBI(cuComplex, C, heevj)
EIGEN_JACOBI(cuDoubleComplex, Z, heevj)
