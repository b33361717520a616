// SPDX-License-Identifier: MIT
// The part of cuBLAS that the workbook's stand-in implements, for machines whose CUDA toolkit comes
// without cuBLAS. Where NVIDIA's header is installed, that one is used. Names, types and values are
// those of the cuBLAS documentation; matrices are column-major, as there.
#pragma once

#include <cuComplex.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// After NVIDIA's own header only the functions are declared, for the test that compares the two.
#ifndef CUBLAS_API_H_
typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum {
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2
} cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

typedef struct cublasContext* cublasHandle_t;
#endif

// Declares cublasNAME_v2, the function that the library exports, and cublasNAME, which is another
// name for it. (In NVIDIA's header the second is a macro.) BITS: see below.
#ifdef CUBLAS_API_H_
#define CUBLAS_V2(NAME, BITS, PARAMETERS) cublasStatus_t NAME##_v2##BITS PARAMETERS
#else
#define CUBLAS_V2(NAME, BITS, PARAMETERS)                                                          \
    cublasStatus_t NAME##_v2##BITS PARAMETERS;                                                     \
    cublasStatus_t NAME##BITS PARAMETERS __asm__(#NAME "_v2" #BITS)
#endif

CUBLAS_V2(cublasCreate, , (cublasHandle_t * handle));
CUBLAS_V2(cublasDestroy, , (cublasHandle_t handle));
CUBLAS_V2(cublasGetVersion, , (cublasHandle_t handle, int* version));
CUBLAS_V2(cublasSetStream, , (cublasHandle_t handle, cudaStream_t stream));
CUBLAS_V2(cublasGetStream, , (cublasHandle_t handle, cudaStream_t* stream));
CUBLAS_V2(cublasSetWorkspace, , (cublasHandle_t handle, void* workspace, size_t bytes));
CUBLAS_V2(cublasSetPointerMode, , (cublasHandle_t handle, cublasPointerMode_t mode));
CUBLAS_V2(cublasGetPointerMode, , (cublasHandle_t handle, cublasPointerMode_t* mode));
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

// Each declaration below stands for one function of every type and size, so cublas##P##axpy with
// BITS for cublasSaxpy, cublasDaxpy_64 and so on:
//   T     the type of the numbers: float, double, cuComplex, cuDoubleComplex
//   P     its letter: S, D, C, Z
//   INT   the type of the sizes: int, int64_t
//   BITS  the suffix of functions with such sizes: nothing, _64
// clang-format would give each parameter in a macro a line of its own.
// clang-format off

// Copies: cublasSetVector from host to device, cublasGetVector back.
#define CUBLAS_COPIES(WAY, INT, BITS)                                                              \
    cublasStatus_t cublas##WAY##Vector##BITS(INT n, INT elemSize, const void* x, INT incx,         \
        void* y, INT incy);                                                                        \
    cublasStatus_t cublas##WAY##Matrix##BITS(INT rows, INT cols, INT elemSize, const void* A,      \
        INT lda, void* B, INT ldb);                                                                \
    cublasStatus_t cublas##WAY##VectorAsync##BITS(INT n, INT elemSize, const void* x, INT incx,    \
        void* y, INT incy, cudaStream_t stream);                                                   \
    cublasStatus_t cublas##WAY##MatrixAsync##BITS(INT rows, INT cols, INT elemSize, const void* A, \
        INT lda, void* B, INT ldb, cudaStream_t stream);

// Products of matrices whose types are arguments.
#define CUBLAS_ANY_TYPE(INT, BITS)                                                                 \
    cublasStatus_t cublasGemmEx##BITS(cublasHandle_t handle, cublasOperation_t transa,             \
        cublasOperation_t transb, INT m, INT n, INT k, const void* alpha, const void* A,           \
        cudaDataType Atype, INT lda, const void* B, cudaDataType Btype, INT ldb, const void* beta, \
        void* C, cudaDataType Ctype, INT ldc, cublasComputeType_t computeType,                     \
        cublasGemmAlgo_t algo);                                                                    \
    cublasStatus_t cublasGemmStridedBatchedEx##BITS(cublasHandle_t handle,                         \
        cublasOperation_t transa, cublasOperation_t transb, INT m, INT n, INT k,                   \
        const void* alpha, const void* A, cudaDataType Atype, INT lda, long long int strideA,      \
        const void* B, cudaDataType Btype, INT ldb, long long int strideB, const void* beta,       \
        void* C, cudaDataType Ctype, INT ldc, long long int strideC, INT batchCount,               \
        cublasComputeType_t computeType, cublasGemmAlgo_t algo);

// For all four types. REAL: the type of a norm, whose functions have the letters N: S, D, Sc, Dz.
#define CUBLAS_ALL_TYPES(T, P, REAL, N, INT, BITS)                                                 \
    CUBLAS_V2(cublas##P##axpy, BITS, (cublasHandle_t handle, INT n, const T* alpha, const T* x,    \
        INT incx, T* y, INT incy));                                                                \
    CUBLAS_V2(cublas##P##copy, BITS, (cublasHandle_t handle, INT n, const T* x, INT incx, T* y,    \
        INT incy));                                                                                \
    CUBLAS_V2(cublas##P##swap, BITS, (cublasHandle_t handle, INT n, T* x, INT incx, T* y,          \
        INT incy));                                                                                \
    CUBLAS_V2(cublas##P##scal, BITS, (cublasHandle_t handle, INT n, const T* alpha, T* x,          \
        INT incx));                                                                                \
    CUBLAS_V2(cublas##N##nrm2, BITS, (cublasHandle_t handle, INT n, const T* x, INT incx,          \
        REAL* result));                                                                            \
    CUBLAS_V2(cublas##N##asum, BITS, (cublasHandle_t handle, INT n, const T* x, INT incx,          \
        REAL* result));                                                                            \
    CUBLAS_V2(cublas##P##gemv, BITS, (cublasHandle_t handle, cublasOperation_t trans, INT m,       \
        INT n, const T* alpha, const T* A, INT lda, const T* x, INT incx, const T* beta, T* y,     \
        INT incy));                                                                                \
    CUBLAS_V2(cublas##P##gemm, BITS, (cublasHandle_t handle, cublasOperation_t transa,             \
        cublasOperation_t transb, INT m, INT n, INT k, const T* alpha, const T* A, INT lda,        \
        const T* B, INT ldb, const T* beta, T* C, INT ldc));                                       \
    CUBLAS_V2(cublas##P##trsm, BITS, (cublasHandle_t handle, cublasSideMode_t side,                \
        cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, INT m, INT n,       \
        const T* alpha, const T* A, INT lda, T* B, INT ldb));                                      \
    CUBLAS_V2(cublas##P##syrk, BITS, (cublasHandle_t handle, cublasFillMode_t uplo,                \
        cublasOperation_t trans, INT n, INT k, const T* alpha, const T* A, INT lda, const T* beta, \
        T* C, INT ldc));                                                                           \
    cublasStatus_t cublas##P##geam##BITS(cublasHandle_t handle, cublasOperation_t transa,          \
        cublasOperation_t transb, INT m, INT n, const T* alpha, const T* A, INT lda,               \
        const T* beta, const T* B, INT ldb, T* C, INT ldc);                                        \
    cublasStatus_t cublas##P##gemmStridedBatched##BITS(cublasHandle_t handle,                      \
        cublasOperation_t transa, cublasOperation_t transb, INT m, INT n, INT k, const T* alpha,   \
        const T* A, INT lda, long long int strideA, const T* B, INT ldb, long long int strideB,    \
        const T* beta, T* C, INT ldc, long long int strideC, INT batchCount);                      \
    cublasStatus_t cublas##P##gemmBatched##BITS(cublasHandle_t handle, cublasOperation_t transa,   \
        cublasOperation_t transb, INT m, INT n, INT k, const T* alpha, const T* const Aarray[],    \
        INT lda, const T* const Barray[], INT ldb, const T* beta, T* const Carray[], INT ldc,      \
        INT batchCount);

// Products of two vectors, under other names for complex numbers: with y (u) or conj(y) (c).
#define CUBLAS_PRODUCTS(T, P, DOT, GER, INT, BITS)                                                 \
    CUBLAS_V2(cublas##P##DOT, BITS, (cublasHandle_t handle, INT n, const T* x, INT incx,           \
        const T* y, INT incy, T* result));                                                         \
    CUBLAS_V2(cublas##P##GER, BITS, (cublasHandle_t handle, INT m, INT n, const T* alpha,          \
        const T* x, INT incx, const T* y, INT incy, T* A, INT lda));

// The elements with the largest and smallest magnitude, of real numbers only.
#define CUBLAS_EXTREMES(T, P, INT, BITS)                                                           \
    CUBLAS_V2(cublasI##P##amax, BITS, (cublasHandle_t handle, INT n, const T* x, INT incx,         \
        INT* result));                                                                             \
    CUBLAS_V2(cublasI##P##amin, BITS, (cublasHandle_t handle, INT n, const T* x, INT incx,         \
        INT* result));

// Batches of factorisations, which have sizes of int only.
#define CUBLAS_BATCHED(T, P)                                                                       \
    cublasStatus_t cublas##P##getrfBatched(cublasHandle_t handle, int n, T* const A[], int lda,    \
        int* PivotArray, int* info, int batchSize);                                                \
    cublasStatus_t cublas##P##getriBatched(cublasHandle_t handle, int n, const T* const A[],       \
        int lda, const int* PivotArray, T* const C[], int ldc, int* info, int batchSize);          \
    cublasStatus_t cublas##P##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n,  \
        int nrhs, const T* const A[], int lda, const int* devIpiv, T* const B[], int ldb,          \
        int* info, int batchSize);

#define CUBLAS_SIZES(INT, BITS)                                                                    \
    CUBLAS_COPIES(Set, INT, BITS)                                                                  \
    CUBLAS_COPIES(Get, INT, BITS)                                                                  \
    CUBLAS_ANY_TYPE(INT, BITS)                                                                     \
    CUBLAS_ALL_TYPES(float, S, float, S, INT, BITS)                                                \
    CUBLAS_ALL_TYPES(double, D, double, D, INT, BITS)                                              \
    CUBLAS_ALL_TYPES(cuComplex, C, float, Sc, INT, BITS)                                           \
    CUBLAS_ALL_TYPES(cuDoubleComplex, Z, double, Dz, INT, BITS)                                    \
    CUBLAS_PRODUCTS(float, S, dot, ger, INT, BITS)                                                 \
    CUBLAS_PRODUCTS(double, D, dot, ger, INT, BITS)                                                \
    CUBLAS_PRODUCTS(cuComplex, C, dotu, geru, INT, BITS)                                           \
    CUBLAS_PRODUCTS(cuComplex, C, dotc, gerc, INT, BITS)                                           \
    CUBLAS_PRODUCTS(cuDoubleComplex, Z, dotu, geru, INT, BITS)                                     \
    CUBLAS_PRODUCTS(cuDoubleComplex, Z, dotc, gerc, INT, BITS)                                     \
    CUBLAS_EXTREMES(float, s, INT, BITS)                                                           \
    CUBLAS_EXTREMES(double, d, INT, BITS)
// clang-format on

CUBLAS_SIZES(int, )
CUBLAS_SIZES(int64_t, _64)
CUBLAS_BATCHED(float, S)
CUBLAS_BATCHED(double, D)
CUBLAS_BATCHED(cuComplex, C)
CUBLAS_BATCHED(cuDoubleComplex, Z)

#undef CUBLAS_V2
#undef CUBLAS_COPIES
#undef CUBLAS_ANY_TYPE
#undef CUBLAS_ALL_TYPES
#undef CUBLAS_PRODUCTS
#undef CUBLAS_EXTREMES
#undef CUBLAS_BATCHED
#undef CUBLAS_SIZES

#ifdef __cplusplus
}
#endif
