// SPDX-License-Identifier: MIT
// cuSOLVER's Cholesky factorisations of batches of small matrices, which are given as arrays of
// pointers in device memory.
#include "pointer_array.h"
#include "solver/handle.h"
#include "solver/lapack.h"

namespace solver {
namespace {

using stand_in::PointerArray;

cusolverStatus_t unknown(bool captured) {
    return captured ? CUSOLVER_STATUS_NOT_SUPPORTED : CUSOLVER_STATUS_EXECUTION_FAILED;
}

template <class T>
cusolverStatus_t do_potrf(const char* name, cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                          T* const* array, int lda, int* info, int batch) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_fill(fill) || !is_matrix(n, n, lda) || batch < 0)
            return CUSOLVER_STATUS_INVALID_VALUE;
        if (n == 0 || batch == 0) return CUSOLVER_STATUS_SUCCESS;
        PointerArray<T> matrices(context.stream, name, "Aarray", array, batch);
        if (!matrices.known()) return unknown(matrices.captured());
        std::vector<Operand> operands = {written(vector_of("infoArray", info, batch))};
        for (const T* matrix : matrices)
            operands.push_back(updated(triangle("A", matrix, sizeof(T), n, lda, fill)));
        return run(context, name, std::move(operands), [=](std::byte* const* at) {
            for (int i = 0; i < batch; ++i)
                as<int>(at[0])[i] = lapack::potrf(lapack::letter(fill), n, as<T>(at[1 + i]), lda);
        });
    });
}

// cuSOLVER takes one right side for each matrix ("cusolverDn<t>potrsBatched()", remark).
template <class T>
cusolverStatus_t do_potrs(const char* name, cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                          int columns, T* const* a_array, int lda, T* const* b_array, int ldb,
                          int* info, int batch) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_fill(fill) || !is_matrix(n, n, lda) || !is_matrix(n, columns, ldb) || batch < 0)
            return CUSOLVER_STATUS_INVALID_VALUE;
        if (columns != 1) return CUSOLVER_STATUS_NOT_SUPPORTED;
        if (n == 0 || batch == 0) return CUSOLVER_STATUS_SUCCESS;
        PointerArray<T> systems(context.stream, name, "Aarray", a_array, batch);
        PointerArray<T> right(context.stream, name, "Barray", b_array, batch);
        if (!systems.known() || !right.known()) return unknown(systems.captured());
        std::vector<Operand> operands = {written(vector_of("info", info, 1))};
        for (const T* matrix : systems)
            operands.push_back(triangle("A", matrix, sizeof(T), n, lda, fill));
        for (T* vector : right) operands.push_back(updated(vector_of("B", vector, n)));
        return run(context, name, std::move(operands), [=](std::byte* const* at) {
            const char letter = lapack::letter(fill);
            for (int i = 0; i < batch; ++i)
                lapack::potrs(letter, n, 1, as<T>(at[1 + i]), lda, as<T>(at[1 + batch + i]), ldb);
            store_info(at[0], 0);
        });
    });
}

}  // namespace
}  // namespace solver

using namespace solver;
using stand_in::numbers;

#define BATCHED(T, P)                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##potrfBatched(cusolverDnHandle_t handle,           \
                                                              cublasFillMode_t uplo,               \
                                                              int n,                               \
                                                              T* Aarray[],                         \
                                                              int lda,                             \
                                                              int* infoArray,                      \
                                                              int batchSize) {                     \
        const char* name = "cusolverDn" #P "potrfBatched";                                         \
        return do_potrf(name, handle, uplo, n, numbers(Aarray), lda, infoArray, batchSize);        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##potrsBatched(cusolverDnHandle_t handle,           \
                                                              cublasFillMode_t uplo,               \
                                                              int n,                               \
                                                              int nrhs,                            \
                                                              T* A[],                              \
                                                              int lda,                             \
                                                              T* B[],                              \
                                                              int ldb,                             \
                                                              int* d_info,                         \
                                                              int batchSize) {                     \
        const char* name = "cusolverDn" #P "potrsBatched";                                         \
        return do_potrs(                                                                           \
            name, handle, uplo, n, nrhs, numbers(A), lda, numbers(B), ldb, d_info, batchSize);     \
    }

BATCHED(float, S)
BATCHED(double, D)
BATCHED(cuComplex, C)
BATCHED(cuDoubleComplex, Z)
