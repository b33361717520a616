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
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B,
                               int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda,
                                    void* B, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetVector(int n, int elemSize, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B,
                               int ldb);
cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda,
                                    void* B, int ldb, cudaStream_t stream);
cublasStatus_t cublasSetVector_64(int64_t n, int64_t elemSize, const void* x, int64_t incx, void* y,
                                  int64_t incy);
cublasStatus_t cublasSetMatrix_64(int64_t rows, int64_t cols, int64_t elemSize, const void* A,
                                  int64_t lda, void* B, int64_t ldb);
cublasStatus_t cublasSetVectorAsync_64(int64_t n, int64_t elemSize, const void* x, int64_t incx,
                                       void* y, int64_t incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync_64(int64_t rows, int64_t cols, int64_t elemSize, const void* A,
                                       int64_t lda, void* B, int64_t ldb, cudaStream_t stream);
cublasStatus_t cublasGetVector_64(int64_t n, int64_t elemSize, const void* x, int64_t incx, void* y,
                                  int64_t incy);
cublasStatus_t cublasGetMatrix_64(int64_t rows, int64_t cols, int64_t elemSize, const void* A,
                                  int64_t lda, void* B, int64_t ldb);
cublasStatus_t cublasGetVectorAsync_64(int64_t n, int64_t elemSize, const void* x, int64_t incx,
                                       void* y, int64_t incy, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync_64(int64_t rows, int64_t cols, int64_t elemSize, const void* A,
                                       int64_t lda, void* B, int64_t ldb, cudaStream_t stream);
cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float* alpha, const float* x,
                              int incx, float* y, int incy);
cublasStatus_t cublasScopy_v2(cublasHandle_t handle, int n, const float* x, int incx, float* y,
                              int incy);
cublasStatus_t cublasSswap_v2(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy);
cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float* alpha, float* x, int incx);
cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float* x, int incx, const float* y,
                             int incy, float* result);
cublasStatus_t cublasSnrm2_v2(cublasHandle_t handle, int n, const float* x, int incx,
                              float* result);
cublasStatus_t cublasSasum_v2(cublasHandle_t handle, int n, const float* x, int incx,
                              float* result);
cublasStatus_t cublasIsamax_v2(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIsamin_v2(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                              const float* alpha, const float* A, int lda, const float* x, int incx,
                              const float* beta, float* y, int incy);
cublasStatus_t cublasSger_v2(cublasHandle_t handle, int m, int n, const float* alpha,
                             const float* x, int incx, const float* y, int incy, float* A, int lda);
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* A, int lda, const float* B, int ldb, const float* beta,
                              float* C, int ldc);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float* alpha, const float* A, int lda,
                                         long long int strideA, const float* B, int ldb,
                                         long long int strideB, const float* beta, float* C,
                                         int ldc, long long int strideC, int batchCount);
cublasStatus_t cublasStrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                              cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                              const float* alpha, const float* A, int lda, float* B, int ldb);
cublasStatus_t cublasSsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                              int n, int k, const float* alpha, const float* A, int lda,
                              const float* beta, float* C, int ldc);
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const float* alpha,
                           const float* A, int lda, const float* beta, const float* B, int ldb,
                           float* C, int ldc);
cublasStatus_t cublasSaxpy_v2_64(cublasHandle_t handle, int64_t n, const float* alpha,
                                 const float* x, int64_t incx, float* y, int64_t incy);
cublasStatus_t cublasScopy_v2_64(cublasHandle_t handle, int64_t n, const float* x, int64_t incx,
                                 float* y, int64_t incy);
cublasStatus_t cublasSswap_v2_64(cublasHandle_t handle, int64_t n, float* x, int64_t incx, float* y,
                                 int64_t incy);
cublasStatus_t cublasSscal_v2_64(cublasHandle_t handle, int64_t n, const float* alpha, float* x,
                                 int64_t incx);
cublasStatus_t cublasSdot_v2_64(cublasHandle_t handle, int64_t n, const float* x, int64_t incx,
                                const float* y, int64_t incy, float* result);
cublasStatus_t cublasSnrm2_v2_64(cublasHandle_t handle, int64_t n, const float* x, int64_t incx,
                                 float* result);
cublasStatus_t cublasSasum_v2_64(cublasHandle_t handle, int64_t n, const float* x, int64_t incx,
                                 float* result);
cublasStatus_t cublasIsamax_v2_64(cublasHandle_t handle, int64_t n, const float* x, int64_t incx,
                                  int64_t* result);
cublasStatus_t cublasIsamin_v2_64(cublasHandle_t handle, int64_t n, const float* x, int64_t incx,
                                  int64_t* result);
cublasStatus_t cublasSgemv_v2_64(cublasHandle_t handle, cublasOperation_t trans, int64_t m,
                                 int64_t n, const float* alpha, const float* A, int64_t lda,
                                 const float* x, int64_t incx, const float* beta, float* y,
                                 int64_t incy);
cublasStatus_t cublasSger_v2_64(cublasHandle_t handle, int64_t m, int64_t n, const float* alpha,
                                const float* x, int64_t incx, const float* y, int64_t incy,
                                float* A, int64_t lda);
cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* A, int64_t lda, const float* B,
                                 int64_t ldb, const float* beta, float* C, int64_t ldc);
cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* A,
                                            int64_t lda, long long int strideA, const float* B,
                                            int64_t ldb, long long int strideB, const float* beta,
                                            float* C, int64_t ldc, long long int strideC,
                                            int64_t batchCount);
cublasStatus_t cublasStrsm_v2_64(cublasHandle_t handle, cublasSideMode_t side,
                                 cublasFillMode_t uplo, cublasOperation_t trans,
                                 cublasDiagType_t diag, int64_t m, int64_t n, const float* alpha,
                                 const float* A, int64_t lda, float* B, int64_t ldb);
cublasStatus_t cublasSsyrk_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, int64_t n, int64_t k, const float* alpha,
                                 const float* A, int64_t lda, const float* beta, float* C,
                                 int64_t ldc);
cublasStatus_t cublasSgeam_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n, const float* alpha,
                              const float* A, int64_t lda, const float* beta, const float* B,
                              int64_t ldb, float* C, int64_t ldc);
cublasStatus_t cublasDaxpy_v2(cublasHandle_t handle, int n, const double* alpha, const double* x,
                              int incx, double* y, int incy);
cublasStatus_t cublasDcopy_v2(cublasHandle_t handle, int n, const double* x, int incx, double* y,
                              int incy);
cublasStatus_t cublasDswap_v2(cublasHandle_t handle, int n, double* x, int incx, double* y,
                              int incy);
cublasStatus_t cublasDscal_v2(cublasHandle_t handle, int n, const double* alpha, double* x,
                              int incx);
cublasStatus_t cublasDdot_v2(cublasHandle_t handle, int n, const double* x, int incx,
                             const double* y, int incy, double* result);
cublasStatus_t cublasDnrm2_v2(cublasHandle_t handle, int n, const double* x, int incx,
                              double* result);
cublasStatus_t cublasDasum_v2(cublasHandle_t handle, int n, const double* x, int incx,
                              double* result);
cublasStatus_t cublasIdamax_v2(cublasHandle_t handle, int n, const double* x, int incx,
                               int* result);
cublasStatus_t cublasIdamin_v2(cublasHandle_t handle, int n, const double* x, int incx,
                               int* result);
cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                              const double* alpha, const double* A, int lda, const double* x,
                              int incx, const double* beta, double* y, int incy);
cublasStatus_t cublasDger_v2(cublasHandle_t handle, int m, int n, const double* alpha,
                             const double* x, int incx, const double* y, int incy, double* A,
                             int lda);
cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const double* alpha,
                              const double* A, int lda, const double* B, int ldb,
                              const double* beta, double* C, int ldc);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const double* alpha, const double* A, int lda,
                                         long long int strideA, const double* B, int ldb,
                                         long long int strideB, const double* beta, double* C,
                                         int ldc, long long int strideC, int batchCount);
cublasStatus_t cublasDtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                              cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                              const double* alpha, const double* A, int lda, double* B, int ldb);
cublasStatus_t cublasDsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                              int n, int k, const double* alpha, const double* A, int lda,
                              const double* beta, double* C, int ldc);
cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const double* alpha,
                           const double* A, int lda, const double* beta, const double* B, int ldb,
                           double* C, int ldc);
cublasStatus_t cublasDaxpy_v2_64(cublasHandle_t handle, int64_t n, const double* alpha,
                                 const double* x, int64_t incx, double* y, int64_t incy);
cublasStatus_t cublasDcopy_v2_64(cublasHandle_t handle, int64_t n, const double* x, int64_t incx,
                                 double* y, int64_t incy);
cublasStatus_t cublasDswap_v2_64(cublasHandle_t handle, int64_t n, double* x, int64_t incx,
                                 double* y, int64_t incy);
cublasStatus_t cublasDscal_v2_64(cublasHandle_t handle, int64_t n, const double* alpha, double* x,
                                 int64_t incx);
cublasStatus_t cublasDdot_v2_64(cublasHandle_t handle, int64_t n, const double* x, int64_t incx,
                                const double* y, int64_t incy, double* result);
cublasStatus_t cublasDnrm2_v2_64(cublasHandle_t handle, int64_t n, const double* x, int64_t incx,
                                 double* result);
cublasStatus_t cublasDasum_v2_64(cublasHandle_t handle, int64_t n, const double* x, int64_t incx,
                                 double* result);
cublasStatus_t cublasIdamax_v2_64(cublasHandle_t handle, int64_t n, const double* x, int64_t incx,
                                  int64_t* result);
cublasStatus_t cublasIdamin_v2_64(cublasHandle_t handle, int64_t n, const double* x, int64_t incx,
                                  int64_t* result);
cublasStatus_t cublasDgemv_v2_64(cublasHandle_t handle, cublasOperation_t trans, int64_t m,
                                 int64_t n, const double* alpha, const double* A, int64_t lda,
                                 const double* x, int64_t incx, const double* beta, double* y,
                                 int64_t incy);
cublasStatus_t cublasDger_v2_64(cublasHandle_t handle, int64_t m, int64_t n, const double* alpha,
                                const double* x, int64_t incx, const double* y, int64_t incy,
                                double* A, int64_t lda);
cublasStatus_t cublasDgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const double* alpha, const double* A, int64_t lda, const double* B,
                                 int64_t ldb, const double* beta, double* C, int64_t ldc);
cublasStatus_t cublasDgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const double* alpha, const double* A,
                                            int64_t lda, long long int strideA, const double* B,
                                            int64_t ldb, long long int strideB, const double* beta,
                                            double* C, int64_t ldc, long long int strideC,
                                            int64_t batchCount);
cublasStatus_t cublasDtrsm_v2_64(cublasHandle_t handle, cublasSideMode_t side,
                                 cublasFillMode_t uplo, cublasOperation_t trans,
                                 cublasDiagType_t diag, int64_t m, int64_t n, const double* alpha,
                                 const double* A, int64_t lda, double* B, int64_t ldb);
cublasStatus_t cublasDsyrk_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, int64_t n, int64_t k, const double* alpha,
                                 const double* A, int64_t lda, const double* beta, double* C,
                                 int64_t ldc);
cublasStatus_t cublasDgeam_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n, const double* alpha,
                              const double* A, int64_t lda, const double* beta, const double* B,
                              int64_t ldb, double* C, int64_t ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* A, cudaDataType Atype, int64_t lda,
                               const void* B, cudaDataType Btype, int64_t ldb, const void* beta,
                               void* C, cudaDataType Ctype, int64_t ldc,
                               cublasComputeType_t computeType, cublasGemmAlgo_t algo);

#ifndef CUBLAS_API_H_
#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasScopy cublasScopy_v2
#define cublasSswap cublasSswap_v2
#define cublasSscal cublasSscal_v2
#define cublasSdot cublasSdot_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasSgemv cublasSgemv_v2
#define cublasSger cublasSger_v2
#define cublasSgemm cublasSgemm_v2
#define cublasStrsm cublasStrsm_v2
#define cublasSsyrk cublasSsyrk_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasDswap cublasDswap_v2
#define cublasDscal cublasDscal_v2
#define cublasDdot cublasDdot_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasDasum cublasDasum_v2
#define cublasDgemv cublasDgemv_v2
#define cublasDger cublasDger_v2
#define cublasDgemm cublasDgemm_v2
#define cublasDtrsm cublasDtrsm_v2
#define cublasDsyrk cublasDsyrk_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIdamin cublasIdamin_v2
#define cublasSaxpy_64 cublasSaxpy_v2_64
#define cublasScopy_64 cublasScopy_v2_64
#define cublasSswap_64 cublasSswap_v2_64
#define cublasSscal_64 cublasSscal_v2_64
#define cublasSdot_64 cublasSdot_v2_64
#define cublasSnrm2_64 cublasSnrm2_v2_64
#define cublasSasum_64 cublasSasum_v2_64
#define cublasSgemv_64 cublasSgemv_v2_64
#define cublasSger_64 cublasSger_v2_64
#define cublasSgemm_64 cublasSgemm_v2_64
#define cublasStrsm_64 cublasStrsm_v2_64
#define cublasSsyrk_64 cublasSsyrk_v2_64
#define cublasIsamax_64 cublasIsamax_v2_64
#define cublasIsamin_64 cublasIsamin_v2_64
#define cublasDaxpy_64 cublasDaxpy_v2_64
#define cublasDcopy_64 cublasDcopy_v2_64
#define cublasDswap_64 cublasDswap_v2_64
#define cublasDscal_64 cublasDscal_v2_64
#define cublasDdot_64 cublasDdot_v2_64
#define cublasDnrm2_64 cublasDnrm2_v2_64
#define cublasDasum_64 cublasDasum_v2_64
#define cublasDgemv_64 cublasDgemv_v2_64
#define cublasDger_64 cublasDger_v2_64
#define cublasDgemm_64 cublasDgemm_v2_64
#define cublasDtrsm_64 cublasDtrsm_v2_64
#define cublasDsyrk_64 cublasDsyrk_v2_64
#define cublasIdamax_64 cublasIdamax_v2_64
#define cublasIdamin_64 cublasIdamin_v2_64
#define cublasCaxpy cublasCaxpy_v2
#define cublasCcopy cublasCcopy_v2
#define cublasCswap cublasCswap_v2
#define cublasCscal cublasCscal_v2
#define cublasCdotu cublasCdotu_v2
#define cublasCdotc cublasCdotc_v2
#define cublasScnrm2 cublasScnrm2_v2
#define cublasScasum cublasScasum_v2
#define cublasCgemv cublasCgemv_v2
#define cublasCgeru cublasCgeru_v2
#define cublasCgerc cublasCgerc_v2
#define cublasCgemm cublasCgemm_v2
#define cublasCtrsm cublasCtrsm_v2
#define cublasCsyrk cublasCsyrk_v2
#define cublasZaxpy cublasZaxpy_v2
#define cublasZcopy cublasZcopy_v2
#define cublasZswap cublasZswap_v2
#define cublasZscal cublasZscal_v2
#define cublasZdotu cublasZdotu_v2
#define cublasZdotc cublasZdotc_v2
#define cublasDznrm2 cublasDznrm2_v2
#define cublasDzasum cublasDzasum_v2
#define cublasZgemv cublasZgemv_v2
#define cublasZgeru cublasZgeru_v2
#define cublasZgerc cublasZgerc_v2
#define cublasZgemm cublasZgemm_v2
#define cublasZtrsm cublasZtrsm_v2
#define cublasZsyrk cublasZsyrk_v2
#define cublasCaxpy_64 cublasCaxpy_v2_64
#define cublasCcopy_64 cublasCcopy_v2_64
#define cublasCswap_64 cublasCswap_v2_64
#define cublasCscal_64 cublasCscal_v2_64
#define cublasCdotu_64 cublasCdotu_v2_64
#define cublasCdotc_64 cublasCdotc_v2_64
#define cublasScnrm2_64 cublasScnrm2_v2_64
#define cublasScasum_64 cublasScasum_v2_64
#define cublasCgemv_64 cublasCgemv_v2_64
#define cublasCgeru_64 cublasCgeru_v2_64
#define cublasCgerc_64 cublasCgerc_v2_64
#define cublasCgemm_64 cublasCgemm_v2_64
#define cublasCtrsm_64 cublasCtrsm_v2_64
#define cublasCsyrk_64 cublasCsyrk_v2_64
#define cublasZaxpy_64 cublasZaxpy_v2_64
#define cublasZcopy_64 cublasZcopy_v2_64
#define cublasZswap_64 cublasZswap_v2_64
#define cublasZscal_64 cublasZscal_v2_64
#define cublasZdotu_64 cublasZdotu_v2_64
#define cublasZdotc_64 cublasZdotc_v2_64
#define cublasDznrm2_64 cublasDznrm2_v2_64
#define cublasDzasum_64 cublasDzasum_v2_64
#define cublasZgemv_64 cublasZgemv_v2_64
#define cublasZgeru_64 cublasZgeru_v2_64
#define cublasZgerc_64 cublasZgerc_v2_64
#define cublasZgemm_64 cublasZgemm_v2_64
#define cublasZtrsm_64 cublasZtrsm_v2_64
#define cublasZsyrk_64 cublasZsyrk_v2_64
#endif
cublasStatus_t cublasCaxpy_v2(cublasHandle_t handle, int n, const cuComplex* alpha,
                              const cuComplex* x, int incx, cuComplex* y, int incy);
cublasStatus_t cublasCcopy_v2(cublasHandle_t handle, int n, const cuComplex* x, int incx,
                              cuComplex* y, int incy);
cublasStatus_t cublasCswap_v2(cublasHandle_t handle, int n, cuComplex* x, int incx, cuComplex* y,
                              int incy);
cublasStatus_t cublasCscal_v2(cublasHandle_t handle, int n, const cuComplex* alpha, cuComplex* x,
                              int incx);
cublasStatus_t cublasCdotu_v2(cublasHandle_t handle, int n, const cuComplex* x, int incx,
                              const cuComplex* y, int incy, cuComplex* result);
cublasStatus_t cublasCdotc_v2(cublasHandle_t handle, int n, const cuComplex* x, int incx,
                              const cuComplex* y, int incy, cuComplex* result);
cublasStatus_t cublasScnrm2_v2(cublasHandle_t handle, int n, const cuComplex* x, int incx,
                               float* result);
cublasStatus_t cublasScasum_v2(cublasHandle_t handle, int n, const cuComplex* x, int incx,
                               float* result);
cublasStatus_t cublasCgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                              const cuComplex* alpha, const cuComplex* A, int lda,
                              const cuComplex* x, int incx, const cuComplex* beta, cuComplex* y,
                              int incy);
cublasStatus_t cublasCgeru_v2(cublasHandle_t handle, int m, int n, const cuComplex* alpha,
                              const cuComplex* x, int incx, const cuComplex* y, int incy,
                              cuComplex* A, int lda);
cublasStatus_t cublasCgerc_v2(cublasHandle_t handle, int m, int n, const cuComplex* alpha,
                              const cuComplex* x, int incx, const cuComplex* y, int incy,
                              cuComplex* A, int lda);
cublasStatus_t cublasCgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const cuComplex* alpha,
                              const cuComplex* A, int lda, const cuComplex* B, int ldb,
                              const cuComplex* beta, cuComplex* C, int ldc);
cublasStatus_t cublasCgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const cuComplex* alpha, const cuComplex* A, int lda,
                                         long long int strideA, const cuComplex* B, int ldb,
                                         long long int strideB, const cuComplex* beta, cuComplex* C,
                                         int ldc, long long int strideC, int batchCount);
cublasStatus_t cublasCtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                              cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                              const cuComplex* alpha, const cuComplex* A, int lda, cuComplex* B,
                              int ldb);
cublasStatus_t cublasCsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                              int n, int k, const cuComplex* alpha, const cuComplex* A, int lda,
                              const cuComplex* beta, cuComplex* C, int ldc);
cublasStatus_t cublasCgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const cuComplex* alpha,
                           const cuComplex* A, int lda, const cuComplex* beta, const cuComplex* B,
                           int ldb, cuComplex* C, int ldc);
cublasStatus_t cublasZaxpy_v2(cublasHandle_t handle, int n, const cuDoubleComplex* alpha,
                              const cuDoubleComplex* x, int incx, cuDoubleComplex* y, int incy);
cublasStatus_t cublasZcopy_v2(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx,
                              cuDoubleComplex* y, int incy);
cublasStatus_t cublasZswap_v2(cublasHandle_t handle, int n, cuDoubleComplex* x, int incx,
                              cuDoubleComplex* y, int incy);
cublasStatus_t cublasZscal_v2(cublasHandle_t handle, int n, const cuDoubleComplex* alpha,
                              cuDoubleComplex* x, int incx);
cublasStatus_t cublasZdotu_v2(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx,
                              const cuDoubleComplex* y, int incy, cuDoubleComplex* result);
cublasStatus_t cublasZdotc_v2(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx,
                              const cuDoubleComplex* y, int incy, cuDoubleComplex* result);
cublasStatus_t cublasDznrm2_v2(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx,
                               double* result);
cublasStatus_t cublasDzasum_v2(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx,
                               double* result);
cublasStatus_t cublasZgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                              const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda,
                              const cuDoubleComplex* x, int incx, const cuDoubleComplex* beta,
                              cuDoubleComplex* y, int incy);
cublasStatus_t cublasZgeru_v2(cublasHandle_t handle, int m, int n, const cuDoubleComplex* alpha,
                              const cuDoubleComplex* x, int incx, const cuDoubleComplex* y,
                              int incy, cuDoubleComplex* A, int lda);
cublasStatus_t cublasZgerc_v2(cublasHandle_t handle, int m, int n, const cuDoubleComplex* alpha,
                              const cuDoubleComplex* x, int incx, const cuDoubleComplex* y,
                              int incy, cuDoubleComplex* A, int lda);
cublasStatus_t cublasZgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k,
                              const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda,
                              const cuDoubleComplex* B, int ldb, const cuDoubleComplex* beta,
                              cuDoubleComplex* C, int ldc);
cublasStatus_t cublasZgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                                         int lda, long long int strideA, const cuDoubleComplex* B,
                                         int ldb, long long int strideB,
                                         const cuDoubleComplex* beta, cuDoubleComplex* C, int ldc,
                                         long long int strideC, int batchCount);
cublasStatus_t cublasZtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                              cublasOperation_t trans, cublasDiagType_t diag, int m, int n,
                              const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda,
                              cuDoubleComplex* B, int ldb);
cublasStatus_t cublasZsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                              int n, int k, const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                              int lda, const cuDoubleComplex* beta, cuDoubleComplex* C, int ldc);
cublasStatus_t cublasZgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const cuDoubleComplex* alpha,
                           const cuDoubleComplex* A, int lda, const cuDoubleComplex* beta,
                           const cuDoubleComplex* B, int ldb, cuDoubleComplex* C, int ldc);
cublasStatus_t cublasCaxpy_v2_64(cublasHandle_t handle, int64_t n, const cuComplex* alpha,
                                 const cuComplex* x, int64_t incx, cuComplex* y, int64_t incy);
cublasStatus_t cublasCcopy_v2_64(cublasHandle_t handle, int64_t n, const cuComplex* x, int64_t incx,
                                 cuComplex* y, int64_t incy);
cublasStatus_t cublasCswap_v2_64(cublasHandle_t handle, int64_t n, cuComplex* x, int64_t incx,
                                 cuComplex* y, int64_t incy);
cublasStatus_t cublasCscal_v2_64(cublasHandle_t handle, int64_t n, const cuComplex* alpha,
                                 cuComplex* x, int64_t incx);
cublasStatus_t cublasCdotu_v2_64(cublasHandle_t handle, int64_t n, const cuComplex* x, int64_t incx,
                                 const cuComplex* y, int64_t incy, cuComplex* result);
cublasStatus_t cublasCdotc_v2_64(cublasHandle_t handle, int64_t n, const cuComplex* x, int64_t incx,
                                 const cuComplex* y, int64_t incy, cuComplex* result);
cublasStatus_t cublasScnrm2_v2_64(cublasHandle_t handle, int64_t n, const cuComplex* x,
                                  int64_t incx, float* result);
cublasStatus_t cublasScasum_v2_64(cublasHandle_t handle, int64_t n, const cuComplex* x,
                                  int64_t incx, float* result);
cublasStatus_t cublasCgemv_v2_64(cublasHandle_t handle, cublasOperation_t trans, int64_t m,
                                 int64_t n, const cuComplex* alpha, const cuComplex* A, int64_t lda,
                                 const cuComplex* x, int64_t incx, const cuComplex* beta,
                                 cuComplex* y, int64_t incy);
cublasStatus_t cublasCgeru_v2_64(cublasHandle_t handle, int64_t m, int64_t n,
                                 const cuComplex* alpha, const cuComplex* x, int64_t incx,
                                 const cuComplex* y, int64_t incy, cuComplex* A, int64_t lda);
cublasStatus_t cublasCgerc_v2_64(cublasHandle_t handle, int64_t m, int64_t n,
                                 const cuComplex* alpha, const cuComplex* x, int64_t incx,
                                 const cuComplex* y, int64_t incy, cuComplex* A, int64_t lda);
cublasStatus_t cublasCgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const cuComplex* alpha, const cuComplex* A, int64_t lda,
                                 const cuComplex* B, int64_t ldb, const cuComplex* beta,
                                 cuComplex* C, int64_t ldc);
cublasStatus_t cublasCgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const cuComplex* alpha, const cuComplex* A,
                                            int64_t lda, long long int strideA, const cuComplex* B,
                                            int64_t ldb, long long int strideB,
                                            const cuComplex* beta, cuComplex* C, int64_t ldc,
                                            long long int strideC, int64_t batchCount);
cublasStatus_t cublasCtrsm_v2_64(cublasHandle_t handle, cublasSideMode_t side,
                                 cublasFillMode_t uplo, cublasOperation_t trans,
                                 cublasDiagType_t diag, int64_t m, int64_t n,
                                 const cuComplex* alpha, const cuComplex* A, int64_t lda,
                                 cuComplex* B, int64_t ldb);
cublasStatus_t cublasCsyrk_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, int64_t n, int64_t k,
                                 const cuComplex* alpha, const cuComplex* A, int64_t lda,
                                 const cuComplex* beta, cuComplex* C, int64_t ldc);
cublasStatus_t cublasCgeam_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n,
                              const cuComplex* alpha, const cuComplex* A, int64_t lda,
                              const cuComplex* beta, const cuComplex* B, int64_t ldb, cuComplex* C,
                              int64_t ldc);
cublasStatus_t cublasZaxpy_v2_64(cublasHandle_t handle, int64_t n, const cuDoubleComplex* alpha,
                                 const cuDoubleComplex* x, int64_t incx, cuDoubleComplex* y,
                                 int64_t incy);
cublasStatus_t cublasZcopy_v2_64(cublasHandle_t handle, int64_t n, const cuDoubleComplex* x,
                                 int64_t incx, cuDoubleComplex* y, int64_t incy);
cublasStatus_t cublasZswap_v2_64(cublasHandle_t handle, int64_t n, cuDoubleComplex* x, int64_t incx,
                                 cuDoubleComplex* y, int64_t incy);
cublasStatus_t cublasZscal_v2_64(cublasHandle_t handle, int64_t n, const cuDoubleComplex* alpha,
                                 cuDoubleComplex* x, int64_t incx);
cublasStatus_t cublasZdotu_v2_64(cublasHandle_t handle, int64_t n, const cuDoubleComplex* x,
                                 int64_t incx, const cuDoubleComplex* y, int64_t incy,
                                 cuDoubleComplex* result);
cublasStatus_t cublasZdotc_v2_64(cublasHandle_t handle, int64_t n, const cuDoubleComplex* x,
                                 int64_t incx, const cuDoubleComplex* y, int64_t incy,
                                 cuDoubleComplex* result);
cublasStatus_t cublasDznrm2_v2_64(cublasHandle_t handle, int64_t n, const cuDoubleComplex* x,
                                  int64_t incx, double* result);
cublasStatus_t cublasDzasum_v2_64(cublasHandle_t handle, int64_t n, const cuDoubleComplex* x,
                                  int64_t incx, double* result);
cublasStatus_t cublasZgemv_v2_64(cublasHandle_t handle, cublasOperation_t trans, int64_t m,
                                 int64_t n, const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                                 int64_t lda, const cuDoubleComplex* x, int64_t incx,
                                 const cuDoubleComplex* beta, cuDoubleComplex* y, int64_t incy);
cublasStatus_t cublasZgeru_v2_64(cublasHandle_t handle, int64_t m, int64_t n,
                                 const cuDoubleComplex* alpha, const cuDoubleComplex* x,
                                 int64_t incx, const cuDoubleComplex* y, int64_t incy,
                                 cuDoubleComplex* A, int64_t lda);
cublasStatus_t cublasZgerc_v2_64(cublasHandle_t handle, int64_t m, int64_t n,
                                 const cuDoubleComplex* alpha, const cuDoubleComplex* x,
                                 int64_t incx, const cuDoubleComplex* y, int64_t incy,
                                 cuDoubleComplex* A, int64_t lda);
cublasStatus_t cublasZgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                                 int64_t lda, const cuDoubleComplex* B, int64_t ldb,
                                 const cuDoubleComplex* beta, cuDoubleComplex* C, int64_t ldc);
cublasStatus_t cublasZgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const cuDoubleComplex* alpha,
                                            const cuDoubleComplex* A, int64_t lda,
                                            long long int strideA, const cuDoubleComplex* B,
                                            int64_t ldb, long long int strideB,
                                            const cuDoubleComplex* beta, cuDoubleComplex* C,
                                            int64_t ldc, long long int strideC, int64_t batchCount);
cublasStatus_t cublasZtrsm_v2_64(cublasHandle_t handle, cublasSideMode_t side,
                                 cublasFillMode_t uplo, cublasOperation_t trans,
                                 cublasDiagType_t diag, int64_t m, int64_t n,
                                 const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                                 int64_t lda, cuDoubleComplex* B, int64_t ldb);
cublasStatus_t cublasZsyrk_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, int64_t n, int64_t k,
                                 const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                                 int64_t lda, const cuDoubleComplex* beta, cuDoubleComplex* C,
                                 int64_t ldc);
cublasStatus_t cublasZgeam_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n,
                              const cuDoubleComplex* alpha, const cuDoubleComplex* A, int64_t lda,
                              const cuDoubleComplex* beta, const cuDoubleComplex* B, int64_t ldb,
                              cuDoubleComplex* C, int64_t ldc);
cublasStatus_t cublasSgetrfBatched(cublasHandle_t handle, int n, float* const A[], int lda, int* P,
                                   int* info, int batchSize);
cublasStatus_t cublasSgetriBatched(cublasHandle_t handle, int n, const float* const A[], int lda,
                                   const int* P, float* const C[], int ldc, int* info,
                                   int batchSize);
cublasStatus_t cublasSgetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,
                                   const float* const A[], int lda, const int* devIpiv,
                                   float* const B[], int ldb, int* info, int batchSize);
cublasStatus_t cublasDgetrfBatched(cublasHandle_t handle, int n, double* const A[], int lda, int* P,
                                   int* info, int batchSize);
cublasStatus_t cublasDgetriBatched(cublasHandle_t handle, int n, const double* const A[], int lda,
                                   const int* P, double* const C[], int ldc, int* info,
                                   int batchSize);
cublasStatus_t cublasDgetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,
                                   const double* const A[], int lda, const int* devIpiv,
                                   double* const B[], int ldb, int* info, int batchSize);
cublasStatus_t cublasCgetrfBatched(cublasHandle_t handle, int n, cuComplex* const A[], int lda,
                                   int* P, int* info, int batchSize);
cublasStatus_t cublasCgetriBatched(cublasHandle_t handle, int n, const cuComplex* const A[],
                                   int lda, const int* P, cuComplex* const C[], int ldc, int* info,
                                   int batchSize);
cublasStatus_t cublasCgetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,
                                   const cuComplex* const A[], int lda, const int* devIpiv,
                                   cuComplex* const B[], int ldb, int* info, int batchSize);
cublasStatus_t cublasZgetrfBatched(cublasHandle_t handle, int n, cuDoubleComplex* const A[],
                                   int lda, int* P, int* info, int batchSize);
cublasStatus_t cublasZgetriBatched(cublasHandle_t handle, int n, const cuDoubleComplex* const A[],
                                   int lda, const int* P, cuDoubleComplex* const C[], int ldc,
                                   int* info, int batchSize);
cublasStatus_t cublasZgetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,
                                   const cuDoubleComplex* const A[], int lda, const int* devIpiv,
                                   cuDoubleComplex* const B[], int ldb, int* info, int batchSize);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B,
                                          cudaDataType Btype, int ldb, long long int strideB,
                                          const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount,
                                          cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* A, cudaDataType Atype, int64_t lda,
    long long int strideA, const void* B, cudaDataType Btype, int64_t ldb, long long int strideB,
    const void* beta, void* C, cudaDataType Ctype, int64_t ldc, long long int strideC,
    int64_t batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k, const float* alpha,
                                  const float* const Aarray[], int lda, const float* const Barray[],
                                  int ldb, const float* beta, float* const Carray[], int ldc,
                                  int batchCount);
cublasStatus_t cublasSgemmBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                     const float* alpha, const float* const Aarray[], int64_t lda,
                                     const float* const Barray[], int64_t ldb, const float* beta,
                                     float* const Carray[], int64_t ldc, int64_t batchCount);
cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const double* alpha, const double* const Aarray[], int lda,
                                  const double* const Barray[], int ldb, const double* beta,
                                  double* const Carray[], int ldc, int batchCount);
cublasStatus_t cublasDgemmBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                     const double* alpha, const double* const Aarray[], int64_t lda,
                                     const double* const Barray[], int64_t ldb, const double* beta,
                                     double* const Carray[], int64_t ldc, int64_t batchCount);
cublasStatus_t cublasCgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const cuComplex* alpha, const cuComplex* const Aarray[], int lda,
                                  const cuComplex* const Barray[], int ldb, const cuComplex* beta,
                                  cuComplex* const Carray[], int ldc, int batchCount);
cublasStatus_t cublasCgemmBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                     const cuComplex* alpha, const cuComplex* const Aarray[],
                                     int64_t lda, const cuComplex* const Barray[], int64_t ldb,
                                     const cuComplex* beta, cuComplex* const Carray[], int64_t ldc,
                                     int64_t batchCount);
cublasStatus_t cublasZgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const cuDoubleComplex* alpha,
                                  const cuDoubleComplex* const Aarray[], int lda,
                                  const cuDoubleComplex* const Barray[], int ldb,
                                  const cuDoubleComplex* beta, cuDoubleComplex* const Carray[],
                                  int ldc, int batchCount);
cublasStatus_t cublasZgemmBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                     const cuDoubleComplex* alpha,
                                     const cuDoubleComplex* const Aarray[], int64_t lda,
                                     const cuDoubleComplex* const Barray[], int64_t ldb,
                                     const cuDoubleComplex* beta, cuDoubleComplex* const Carray[],
                                     int64_t ldc, int64_t batchCount);

#ifdef __cplusplus
}
#endif
