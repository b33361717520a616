// SPDX-License-Identifier: MIT
// cuBLAS's LU factorisations of batches of small matrices, which are given as arrays of pointers in
// device memory. OpenBLAS has LAPACK's functions with Fortran's names.
#include "blas/handle.h"
#include "pointer_array.h"

#define FORTRAN(T, p)                                                                              \
    extern "C" void p##getrf_(                                                                     \
        const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);                 \
    extern "C" void p##getri_(const int* n,                                                        \
                              T* a,                                                                \
                              const int* lda,                                                      \
                              const int* pivots,                                                   \
                              T* work,                                                             \
                              const int* lwork,                                                    \
                              int* info);                                                          \
    extern "C" void p##getrs_(const char* op,                                                      \
                              const int* n,                                                        \
                              const int* columns,                                                  \
                              const T* a,                                                          \
                              const int* lda,                                                      \
                              const int* pivots,                                                   \
                              T* b,                                                                \
                              const int* ldb,                                                      \
                              int* info,                                                           \
                              size_t);                                                             \
    namespace blas {                                                                               \
    static int getrf(int n, T* a, int lda, int* pivots) {                                          \
        int info = 0;                                                                              \
        p##getrf_(&n, &n, a, &lda, pivots, &info);                                                 \
        return info;                                                                               \
    }                                                                                              \
    static int getri(int n, T* a, int lda, const int* pivots) {                                    \
        std::vector<T> work(size_t(std::max(1, n)));                                               \
        int info = 0, elements = int(work.size());                                                 \
        p##getri_(&n, a, &lda, pivots, work.data(), &elements, &info);                             \
        return info;                                                                               \
    }                                                                                              \
    static void getrs(char op, int n, int columns, const T* a, int lda, const int* pivots, T* b,   \
                      int ldb) {                                                                   \
        int info = 0;                                                                              \
        p##getrs_(&op, &n, &columns, a, &lda, pivots, b, &ldb, &info, 1);                          \
    }                                                                                              \
    }

FORTRAN(float, s)
FORTRAN(double, d)
FORTRAN(std::complex<float>, c)
FORTRAN(std::complex<double>, z)

namespace blas {
namespace {

using stand_in::PointerArray;

bool are_square(int n, int leading, int batch) {
    return n >= 0 && batch >= 0 && leading >= std::max(1, n);
}

cublasStatus_t unknown(bool captured) {
    return captured ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_EXECUTION_FAILED;
}

template <class T>
cublasStatus_t do_getrf(const char* name, cublasHandle_t handle, int n, T* const* array, int lda,
                        int* pivots, int* info, int batch) {
    return function(name, handle, [&](cublasContext& context) {
        if (!are_square(n, lda, batch)) return CUBLAS_STATUS_INVALID_VALUE;
        // A null pointer requests no pivoting, for which LAPACK has no function.
        if (!pivots) return CUBLAS_STATUS_NOT_SUPPORTED;
        if (n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
        PointerArray<T> matrices(context.stream, name, "Aarray", array, batch);
        if (!matrices.known()) return unknown(matrices.captured());
        std::vector<Operand> operands = {
            written(vector_of("PivotArray", pivots, int64_t(n) * batch)),
            written(vector_of("infoArray", info, batch))};
        for (T* matrix : matrices) operands.push_back(updated(matrix_of("A", matrix, n, n, lda)));
        return run(context, name, std::move(operands), [=](std::byte* const* at) {
            for (int i = 0; i < batch; ++i)
                as<int>(at[1])[i] =
                    getrf(n, as<T>(at[2 + i]), lda, as<int>(at[0]) + int64_t(i) * n);
        });
    });
}

// Stores the inverses of factorised matrices A to C.
template <class T>
cublasStatus_t do_getri(const char* name, cublasHandle_t handle, int n, const T* const* a_array,
                        int lda, const int* pivots, T* const* c_array, int ldc, int* info,
                        int batch) {
    return function(name, handle, [&](cublasContext& context) {
        if (!are_square(n, lda, batch) || ldc < std::max(1, n)) return CUBLAS_STATUS_INVALID_VALUE;
        if (!pivots) return CUBLAS_STATUS_NOT_SUPPORTED;
        if (n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
        PointerArray<const T> in(context.stream, name, "Aarray", a_array, batch);
        PointerArray<T> out(context.stream, name, "Carray", c_array, batch);
        if (!in.known() || !out.known()) return unknown(in.captured());
        std::vector<Operand> operands = {vector_of("PivotArray", pivots, int64_t(n) * batch),
                                         written(vector_of("infoArray", info, batch))};
        for (const T* matrix : in) operands.push_back(matrix_of("A", matrix, n, n, lda));
        for (T* matrix : out) operands.push_back(written(matrix_of("C", matrix, n, n, ldc)));
        return run(context, name, std::move(operands), [=](std::byte* const* at) {
            for (int i = 0; i < batch; ++i) {
                const T* from = as<T>(at[2 + i]);
                T* const to = as<T>(at[2 + batch + i]);
                for (int column = 0; column < n; ++column)
                    std::copy_n(from + int64_t(column) * lda, n, to + int64_t(column) * ldc);
                as<int>(at[1])[i] = getri(n, to, ldc, as<int>(at[0]) + int64_t(i) * n);
            }
        });
    });
}

template <class T>
cublasStatus_t do_getrs(const char* name, cublasHandle_t handle, cublasOperation_t op, int n,
                        int columns, const T* const* a_array, int lda, const int* pivots,
                        T* const* b_array, int ldb, int* info, int batch) {
    return function(name, handle, [&](cublasContext& context) {
        // The status goes to the host: 0, or which argument is wrong.
        if (!is_operation(op) || columns < 0 || !are_square(n, lda, batch) ||
            ldb < std::max(1, n) || !info)
            return CUBLAS_STATUS_INVALID_VALUE;
        *info = 0;
        if (!pivots) return CUBLAS_STATUS_NOT_SUPPORTED;
        if (n == 0 || batch == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
        PointerArray<const T> systems(context.stream, name, "Aarray", a_array, batch);
        PointerArray<T> right(context.stream, name, "Barray", b_array, batch);
        if (!systems.known() || !right.known()) return unknown(systems.captured());
        std::vector<Operand> operands = {vector_of("devIpiv", pivots, int64_t(n) * batch)};
        for (const T* matrix : systems) operands.push_back(matrix_of("A", matrix, n, n, lda));
        for (T* matrix : right)
            operands.push_back(updated(matrix_of("B", matrix, n, columns, ldb)));
        const char letter = op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : 'C';
        return run(context, name, std::move(operands), [=](std::byte* const* at) {
            for (int i = 0; i < batch; ++i)
                getrs(letter,
                      n,
                      columns,
                      as<T>(at[1 + i]),
                      lda,
                      as<int>(at[0]) + int64_t(i) * n,
                      as<T>(at[1 + batch + i]),
                      ldb);
        });
    });
}

}  // namespace
}  // namespace blas

using namespace blas;
using stand_in::numbers;

#define BATCHED(T, P)                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##getrfBatched(                                           \
        cublasHandle_t handle, int n, T* const A[], int lda, int* P_, int* info, int batchSize) {  \
        return do_getrf(                                                                           \
            "cublas" #P "getrfBatched", handle, n, numbers(A), lda, P_, info, batchSize);          \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##getriBatched(cublasHandle_t handle,                     \
                                                        int n,                                     \
                                                        const T* const A[],                        \
                                                        int lda,                                   \
                                                        const int* P_,                             \
                                                        T* const C[],                              \
                                                        int ldc,                                   \
                                                        int* info,                                 \
                                                        int batchSize) {                           \
        return do_getri("cublas" #P "getriBatched",                                                \
                        handle,                                                                    \
                        n,                                                                         \
                        numbers(A),                                                                \
                        lda,                                                                       \
                        P_,                                                                        \
                        numbers(C),                                                                \
                        ldc,                                                                       \
                        info,                                                                      \
                        batchSize);                                                                \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##getrsBatched(cublasHandle_t handle,                     \
                                                        cublasOperation_t trans,                   \
                                                        int n,                                     \
                                                        int nrhs,                                  \
                                                        const T* const A[],                        \
                                                        int lda,                                   \
                                                        const int* devIpiv,                        \
                                                        T* const B[],                              \
                                                        int ldb,                                   \
                                                        int* info,                                 \
                                                        int batchSize) {                           \
        return do_getrs("cublas" #P "getrsBatched",                                                \
                        handle,                                                                    \
                        trans,                                                                     \
                        n,                                                                         \
                        nrhs,                                                                      \
                        numbers(A),                                                                \
                        lda,                                                                       \
                        devIpiv,                                                                   \
                        numbers(B),                                                                \
                        ldb,                                                                       \
                        info,                                                                      \
                        batchSize);                                                                \
    }

BATCHED(float, S)
BATCHED(double, D)
BATCHED(cuComplex, C)
BATCHED(cuDoubleComplex, Z)
