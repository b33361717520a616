// SPDX-License-Identifier: MIT
// The part of cuSOLVER (dense) that the workbook's stand-in implements, for machines whose CUDA
// toolkit comes without cuSOLVER. Where NVIDIA's header is installed, that one is used. Names,
// types and values are those of the cuSOLVER documentation; matrices are column-major, and the
// sizes of workspaces count elements.
#pragma once

#include <cuComplex.h>
#include <library_types.h>

#include "cublas_v2.h"

#ifdef __cplusplus
extern "C" {
#endif

// After NVIDIA's own header only the functions are declared, for the test that compares the two.
#ifndef CUSOLVER_COMMON_H_
typedef enum {
    CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_NOT_INITIALIZED = 1,
    CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3,
    CUSOLVER_STATUS_ARCH_MISMATCH = 4,
    CUSOLVER_STATUS_MAPPING_ERROR = 5,
    CUSOLVER_STATUS_EXECUTION_FAILED = 6,
    CUSOLVER_STATUS_INTERNAL_ERROR = 7,
    CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
    CUSOLVER_STATUS_NOT_SUPPORTED = 9
} cusolverStatus_t;
typedef enum { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 } cusolverEigMode_t;
typedef struct cusolverDnContext* cusolverDnHandle_t;
typedef struct cusolverDnParams* cusolverDnParams_t;
typedef struct syevjInfo* syevjInfo_t;
typedef struct gesvdjInfo* gesvdjInfo_t;
#endif

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream);
cusolverStatus_t cusolverDnSgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, float* A,
                                             int lda, int* Lwork);
cusolverStatus_t cusolverDnSgetrf(cusolverDnHandle_t handle, int m, int n, float* A, int lda,
                                  float* Workspace, int* devIpiv, int* devInfo);
cusolverStatus_t cusolverDnSgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const float* A, int lda, const int* devIpiv, float* B,
                                  int ldb, int* devInfo);
cusolverStatus_t cusolverDnSpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, float* A, int lda, int* Lwork);
cusolverStatus_t cusolverDnSpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, float* A,
                                  int lda, float* Workspace, int Lwork, int* devInfo);
cusolverStatus_t cusolverDnSpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const float* A, int lda, float* B, int ldb, int* devInfo);
cusolverStatus_t cusolverDnSgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, float* A,
                                             int lda, int* lwork);
cusolverStatus_t cusolverDnSgeqrf(cusolverDnHandle_t handle, int m, int n, float* A, int lda,
                                  float* TAU, float* Workspace, int Lwork, int* devInfo);
cusolverStatus_t cusolverDnSormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const float* A, int lda, const float* tau,
                                             const float* C, int ldc, int* lwork);
cusolverStatus_t cusolverDnSormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k, const float* A,
                                  int lda, const float* tau, float* C, int ldc, float* work,
                                  int lwork, int* devInfo);
cusolverStatus_t cusolverDnSgesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int* lwork);
cusolverStatus_t cusolverDnSgesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                                  int m, int n, float* A, int lda, float* S, float* U, int ldu,
                                  float* VT, int ldvt, float* work, int lwork, float* rwork,
                                  int* info);
cusolverStatus_t cusolverDnSsyevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const float* A, int lda,
                                             const float* W, int* lwork);
cusolverStatus_t cusolverDnSsyevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, float* A, int lda, float* W,
                                  float* work, int lwork, int* info);
cusolverStatus_t cusolverDnDgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, double* A,
                                             int lda, int* Lwork);
cusolverStatus_t cusolverDnDgetrf(cusolverDnHandle_t handle, int m, int n, double* A, int lda,
                                  double* Workspace, int* devIpiv, int* devInfo);
cusolverStatus_t cusolverDnDgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const double* A, int lda, const int* devIpiv, double* B,
                                  int ldb, int* devInfo);
cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, double* A, int lda, int* Lwork);
cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  double* A, int lda, double* Workspace, int Lwork, int* devInfo);
cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const double* A, int lda, double* B, int ldb, int* devInfo);
cusolverStatus_t cusolverDnDgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, double* A,
                                             int lda, int* lwork);
cusolverStatus_t cusolverDnDgeqrf(cusolverDnHandle_t handle, int m, int n, double* A, int lda,
                                  double* TAU, double* Workspace, int Lwork, int* devInfo);
cusolverStatus_t cusolverDnDormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const double* A, int lda, const double* tau,
                                             const double* C, int ldc, int* lwork);
cusolverStatus_t cusolverDnDormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k, const double* A,
                                  int lda, const double* tau, double* C, int ldc, double* work,
                                  int lwork, int* devInfo);
cusolverStatus_t cusolverDnDgesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int* lwork);
cusolverStatus_t cusolverDnDgesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                                  int m, int n, double* A, int lda, double* S, double* U, int ldu,
                                  double* VT, int ldvt, double* work, int lwork, double* rwork,
                                  int* info);
cusolverStatus_t cusolverDnDsyevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const double* A, int lda,
                                             const double* W, int* lwork);
cusolverStatus_t cusolverDnDsyevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, double* A, int lda, double* W,
                                  double* work, int lwork, int* info);
cusolverStatus_t cusolverDnCgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, cuComplex* A,
                                             int lda, int* Lwork);
cusolverStatus_t cusolverDnCgetrf(cusolverDnHandle_t handle, int m, int n, cuComplex* A, int lda,
                                  cuComplex* Workspace, int* devIpiv, int* devInfo);
cusolverStatus_t cusolverDnCgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const cuComplex* A, int lda, const int* devIpiv,
                                  cuComplex* B, int ldb, int* devInfo);
cusolverStatus_t cusolverDnCpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, cuComplex* A, int lda, int* Lwork);
cusolverStatus_t cusolverDnCpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  cuComplex* A, int lda, cuComplex* Workspace, int Lwork,
                                  int* devInfo);
cusolverStatus_t cusolverDnCpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const cuComplex* A, int lda, cuComplex* B, int ldb, int* devInfo);
cusolverStatus_t cusolverDnCgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, cuComplex* A,
                                             int lda, int* lwork);
cusolverStatus_t cusolverDnCgeqrf(cusolverDnHandle_t handle, int m, int n, cuComplex* A, int lda,
                                  cuComplex* TAU, cuComplex* Workspace, int Lwork, int* devInfo);
cusolverStatus_t cusolverDnCunmqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const cuComplex* A, int lda, const cuComplex* tau,
                                             const cuComplex* C, int ldc, int* lwork);
cusolverStatus_t cusolverDnCunmqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k, const cuComplex* A,
                                  int lda, const cuComplex* tau, cuComplex* C, int ldc,
                                  cuComplex* work, int lwork, int* devInfo);
cusolverStatus_t cusolverDnCgesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int* lwork);
cusolverStatus_t cusolverDnCgesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                                  int m, int n, cuComplex* A, int lda, float* S, cuComplex* U,
                                  int ldu, cuComplex* VT, int ldvt, cuComplex* work, int lwork,
                                  float* rwork, int* info);
cusolverStatus_t cusolverDnCheevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const cuComplex* A,
                                             int lda, const float* W, int* lwork);
cusolverStatus_t cusolverDnCheevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, cuComplex* A, int lda, float* W,
                                  cuComplex* work, int lwork, int* info);
cusolverStatus_t cusolverDnZgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n,
                                             cuDoubleComplex* A, int lda, int* Lwork);
cusolverStatus_t cusolverDnZgetrf(cusolverDnHandle_t handle, int m, int n, cuDoubleComplex* A,
                                  int lda, cuDoubleComplex* Workspace, int* devIpiv, int* devInfo);
cusolverStatus_t cusolverDnZgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const cuDoubleComplex* A, int lda, const int* devIpiv,
                                  cuDoubleComplex* B, int ldb, int* devInfo);
cusolverStatus_t cusolverDnZpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, cuDoubleComplex* A, int lda, int* Lwork);
cusolverStatus_t cusolverDnZpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  cuDoubleComplex* A, int lda, cuDoubleComplex* Workspace,
                                  int Lwork, int* devInfo);
cusolverStatus_t cusolverDnZpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const cuDoubleComplex* A, int lda, cuDoubleComplex* B, int ldb,
                                  int* devInfo);
cusolverStatus_t cusolverDnZgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n,
                                             cuDoubleComplex* A, int lda, int* lwork);
cusolverStatus_t cusolverDnZgeqrf(cusolverDnHandle_t handle, int m, int n, cuDoubleComplex* A,
                                  int lda, cuDoubleComplex* TAU, cuDoubleComplex* Workspace,
                                  int Lwork, int* devInfo);
cusolverStatus_t cusolverDnZunmqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const cuDoubleComplex* A, int lda,
                                             const cuDoubleComplex* tau, const cuDoubleComplex* C,
                                             int ldc, int* lwork);
cusolverStatus_t cusolverDnZunmqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k,
                                  const cuDoubleComplex* A, int lda, const cuDoubleComplex* tau,
                                  cuDoubleComplex* C, int ldc, cuDoubleComplex* work, int lwork,
                                  int* devInfo);
cusolverStatus_t cusolverDnZgesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int* lwork);
cusolverStatus_t cusolverDnZgesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                                  int m, int n, cuDoubleComplex* A, int lda, double* S,
                                  cuDoubleComplex* U, int ldu, cuDoubleComplex* VT, int ldvt,
                                  cuDoubleComplex* work, int lwork, double* rwork, int* info);
cusolverStatus_t cusolverDnZheevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const cuDoubleComplex* A,
                                             int lda, const double* W, int* lwork);
cusolverStatus_t cusolverDnZheevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, cuDoubleComplex* A, int lda,
                                  double* W, cuDoubleComplex* work, int lwork, int* info);
cusolverStatus_t cusolverDnSorgqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const float* A, int lda, const float* tau, int* lwork);
cusolverStatus_t cusolverDnSorgqr(cusolverDnHandle_t handle, int m, int n, int k, float* A, int lda,
                                  const float* tau, float* work, int lwork, int* info);
cusolverStatus_t cusolverDnSpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         float* Aarray[], int lda, int* infoArray, int batchSize);
cusolverStatus_t cusolverDnSpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, float* A[], int lda, float* B[], int ldb,
                                         int* d_info, int batchSize);
cusolverStatus_t cusolverDnDorgqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const double* A, int lda, const double* tau,
                                             int* lwork);
cusolverStatus_t cusolverDnDorgqr(cusolverDnHandle_t handle, int m, int n, int k, double* A,
                                  int lda, const double* tau, double* work, int lwork, int* info);
cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         double* Aarray[], int lda, int* infoArray, int batchSize);
cusolverStatus_t cusolverDnDpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, double* A[], int lda, double* B[], int ldb,
                                         int* d_info, int batchSize);
cusolverStatus_t cusolverDnCungqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const cuComplex* A, int lda, const cuComplex* tau,
                                             int* lwork);
cusolverStatus_t cusolverDnCungqr(cusolverDnHandle_t handle, int m, int n, int k, cuComplex* A,
                                  int lda, const cuComplex* tau, cuComplex* work, int lwork,
                                  int* info);
cusolverStatus_t cusolverDnCpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         cuComplex* Aarray[], int lda, int* infoArray,
                                         int batchSize);
cusolverStatus_t cusolverDnCpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, cuComplex* A[], int lda, cuComplex* B[], int ldb,
                                         int* d_info, int batchSize);
cusolverStatus_t cusolverDnZungqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const cuDoubleComplex* A, int lda,
                                             const cuDoubleComplex* tau, int* lwork);
cusolverStatus_t cusolverDnZungqr(cusolverDnHandle_t handle, int m, int n, int k,
                                  cuDoubleComplex* A, int lda, const cuDoubleComplex* tau,
                                  cuDoubleComplex* work, int lwork, int* info);
cusolverStatus_t cusolverDnZpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         cuDoubleComplex* Aarray[], int lda, int* infoArray,
                                         int batchSize);
cusolverStatus_t cusolverDnZpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, cuDoubleComplex* A[], int lda,
                                         cuDoubleComplex* B[], int ldb, int* d_info, int batchSize);
cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value);
cusolverStatus_t cusolverGetVersion(int* version);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                             int64_t n, cudaDataType dataTypeA, const void* A,
                                             int64_t lda, cudaDataType dataTypeW, const void* W,
                                             cudaDataType computeType,
                                             size_t* workspaceInBytesOnDevice,
                                             size_t* workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                  cudaDataType dataTypeA, void* A, int64_t lda,
                                  cudaDataType dataTypeW, void* W, cudaDataType computeType,
                                  void* bufferOnDevice, size_t workspaceInBytesOnDevice,
                                  void* bufferOnHost, size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info);
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info);
cusolverStatus_t cusolverDnSsyevjBatched_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                                    int n, const float* A, int lda, const float* W,
                                                    int* lwork, syevjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnSsyevjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                         cublasFillMode_t uplo, int n, float* A, int lda, float* W,
                                         float* work, int lwork, int* info, syevjInfo_t params,
                                         int batchSize);
cusolverStatus_t cusolverDnDsyevjBatched_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                                    int n, const double* A, int lda,
                                                    const double* W, int* lwork, syevjInfo_t params,
                                                    int batchSize);
cusolverStatus_t cusolverDnDsyevjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                         cublasFillMode_t uplo, int n, double* A, int lda,
                                         double* W, double* work, int lwork, int* info,
                                         syevjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnCheevjBatched_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                                    int n, const cuComplex* A, int lda,
                                                    const float* W, int* lwork, syevjInfo_t params,
                                                    int batchSize);
cusolverStatus_t cusolverDnCheevjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                         cublasFillMode_t uplo, int n, cuComplex* A, int lda,
                                         float* W, cuComplex* work, int lwork, int* info,
                                         syevjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnZheevjBatched_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                                    int n, const cuDoubleComplex* A, int lda,
                                                    const double* W, int* lwork, syevjInfo_t params,
                                                    int batchSize);
cusolverStatus_t cusolverDnZheevjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                         cublasFillMode_t uplo, int n, cuDoubleComplex* A, int lda,
                                         double* W, cuDoubleComplex* work, int lwork, int* info,
                                         syevjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnSsyevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const float* A, int lda,
                                             const float* W, int* lwork, syevjInfo_t params);
cusolverStatus_t cusolverDnSsyevj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, float* A, int lda, float* W,
                                  float* work, int lwork, int* info, syevjInfo_t params);
cusolverStatus_t cusolverDnDsyevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const double* A, int lda,
                                             const double* W, int* lwork, syevjInfo_t params);
cusolverStatus_t cusolverDnDsyevj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, double* A, int lda, double* W,
                                  double* work, int lwork, int* info, syevjInfo_t params);
cusolverStatus_t cusolverDnCheevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const cuComplex* A,
                                             int lda, const float* W, int* lwork,
                                             syevjInfo_t params);
cusolverStatus_t cusolverDnCheevj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, cuComplex* A, int lda, float* W,
                                  cuComplex* work, int lwork, int* info, syevjInfo_t params);
cusolverStatus_t cusolverDnZheevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const cuDoubleComplex* A,
                                             int lda, const double* W, int* lwork,
                                             syevjInfo_t params);
cusolverStatus_t cusolverDnZheevj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, cuDoubleComplex* A, int lda,
                                  double* W, cuDoubleComplex* work, int lwork, int* info,
                                  syevjInfo_t params);
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info);
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info);
cusolverStatus_t cusolverDnSgesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              int econ, int m, int n, const float* A, int lda,
                                              const float* S, const float* U, int ldu,
                                              const float* V, int ldv, int* lwork,
                                              gesvdjInfo_t params);
cusolverStatus_t cusolverDnSgesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,
                                   int m, int n, float* A, int lda, float* S, float* U, int ldu,
                                   float* V, int ldv, float* work, int lwork, int* info,
                                   gesvdjInfo_t params);
cusolverStatus_t cusolverDnSgesvdjBatched_bufferSize(cusolverDnHandle_t handle,
                                                     cusolverEigMode_t jobz, int m, int n,
                                                     const float* A, int lda, const float* S,
                                                     const float* U, int ldu, const float* V,
                                                     int ldv, int* lwork, gesvdjInfo_t params,
                                                     int batchSize);
cusolverStatus_t cusolverDnSgesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m,
                                          int n, float* A, int lda, float* S, float* U, int ldu,
                                          float* V, int ldv, float* work, int lwork, int* info,
                                          gesvdjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnSgesvdaStridedBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const float* d_A,
    int lda, long long int strideA, const float* d_S, long long int strideS, const float* d_U,
    int ldu, long long int strideU, const float* d_V, int ldv, long long int strideV, int* lwork,
    int batchSize);
cusolverStatus_t cusolverDnSgesvdaStridedBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                                 int rank, int m, int n, const float* d_A, int lda,
                                                 long long int strideA, float* d_S,
                                                 long long int strideS, float* d_U, int ldu,
                                                 long long int strideU, float* d_V, int ldv,
                                                 long long int strideV, float* d_work, int lwork,
                                                 int* d_info, double* h_R_nrmF, int batchSize);
cusolverStatus_t cusolverDnDgesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              int econ, int m, int n, const double* A, int lda,
                                              const double* S, const double* U, int ldu,
                                              const double* V, int ldv, int* lwork,
                                              gesvdjInfo_t params);
cusolverStatus_t cusolverDnDgesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,
                                   int m, int n, double* A, int lda, double* S, double* U, int ldu,
                                   double* V, int ldv, double* work, int lwork, int* info,
                                   gesvdjInfo_t params);
cusolverStatus_t cusolverDnDgesvdjBatched_bufferSize(cusolverDnHandle_t handle,
                                                     cusolverEigMode_t jobz, int m, int n,
                                                     const double* A, int lda, const double* S,
                                                     const double* U, int ldu, const double* V,
                                                     int ldv, int* lwork, gesvdjInfo_t params,
                                                     int batchSize);
cusolverStatus_t cusolverDnDgesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m,
                                          int n, double* A, int lda, double* S, double* U, int ldu,
                                          double* V, int ldv, double* work, int lwork, int* info,
                                          gesvdjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnDgesvdaStridedBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const double* d_A,
    int lda, long long int strideA, const double* d_S, long long int strideS, const double* d_U,
    int ldu, long long int strideU, const double* d_V, int ldv, long long int strideV, int* lwork,
    int batchSize);
cusolverStatus_t cusolverDnDgesvdaStridedBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                                 int rank, int m, int n, const double* d_A, int lda,
                                                 long long int strideA, double* d_S,
                                                 long long int strideS, double* d_U, int ldu,
                                                 long long int strideU, double* d_V, int ldv,
                                                 long long int strideV, double* d_work, int lwork,
                                                 int* d_info, double* h_R_nrmF, int batchSize);
cusolverStatus_t cusolverDnCgesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              int econ, int m, int n, const cuComplex* A, int lda,
                                              const float* S, const cuComplex* U, int ldu,
                                              const cuComplex* V, int ldv, int* lwork,
                                              gesvdjInfo_t params);
cusolverStatus_t cusolverDnCgesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,
                                   int m, int n, cuComplex* A, int lda, float* S, cuComplex* U,
                                   int ldu, cuComplex* V, int ldv, cuComplex* work, int lwork,
                                   int* info, gesvdjInfo_t params);
cusolverStatus_t cusolverDnCgesvdjBatched_bufferSize(cusolverDnHandle_t handle,
                                                     cusolverEigMode_t jobz, int m, int n,
                                                     const cuComplex* A, int lda, const float* S,
                                                     const cuComplex* U, int ldu,
                                                     const cuComplex* V, int ldv, int* lwork,
                                                     gesvdjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnCgesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m,
                                          int n, cuComplex* A, int lda, float* S, cuComplex* U,
                                          int ldu, cuComplex* V, int ldv, cuComplex* work,
                                          int lwork, int* info, gesvdjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnCgesvdaStridedBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const cuComplex* d_A,
    int lda, long long int strideA, const float* d_S, long long int strideS, const cuComplex* d_U,
    int ldu, long long int strideU, const cuComplex* d_V, int ldv, long long int strideV,
    int* lwork, int batchSize);
cusolverStatus_t cusolverDnCgesvdaStridedBatched(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const cuComplex* d_A,
    int lda, long long int strideA, float* d_S, long long int strideS, cuComplex* d_U, int ldu,
    long long int strideU, cuComplex* d_V, int ldv, long long int strideV, cuComplex* d_work,
    int lwork, int* d_info, double* h_R_nrmF, int batchSize);
cusolverStatus_t cusolverDnZgesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              int econ, int m, int n, const cuDoubleComplex* A,
                                              int lda, const double* S, const cuDoubleComplex* U,
                                              int ldu, const cuDoubleComplex* V, int ldv,
                                              int* lwork, gesvdjInfo_t params);
cusolverStatus_t cusolverDnZgesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,
                                   int m, int n, cuDoubleComplex* A, int lda, double* S,
                                   cuDoubleComplex* U, int ldu, cuDoubleComplex* V, int ldv,
                                   cuDoubleComplex* work, int lwork, int* info,
                                   gesvdjInfo_t params);
cusolverStatus_t
cusolverDnZgesvdjBatched_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n,
                                    const cuDoubleComplex* A, int lda, const double* S,
                                    const cuDoubleComplex* U, int ldu, const cuDoubleComplex* V,
                                    int ldv, int* lwork, gesvdjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnZgesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m,
                                          int n, cuDoubleComplex* A, int lda, double* S,
                                          cuDoubleComplex* U, int ldu, cuDoubleComplex* V, int ldv,
                                          cuDoubleComplex* work, int lwork, int* info,
                                          gesvdjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnZgesvdaStridedBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n,
    const cuDoubleComplex* d_A, int lda, long long int strideA, const double* d_S,
    long long int strideS, const cuDoubleComplex* d_U, int ldu, long long int strideU,
    const cuDoubleComplex* d_V, int ldv, long long int strideV, int* lwork, int batchSize);
cusolverStatus_t
cusolverDnZgesvdaStridedBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m,
                                int n, const cuDoubleComplex* d_A, int lda, long long int strideA,
                                double* d_S, long long int strideS, cuDoubleComplex* d_U, int ldu,
                                long long int strideU, cuDoubleComplex* d_V, int ldv,
                                long long int strideV, cuDoubleComplex* d_work, int lwork,
                                int* d_info, double* h_R_nrmF, int batchSize);
cusolverStatus_t cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl,
    cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA, const void* A, int64_t lda,
    cudaDataType dataTypeW, const void* W, cudaDataType dataTypeVL, const void* VL, int64_t ldvl,
    cudaDataType dataTypeVR, const void* VR, int64_t ldvr, cudaDataType computeType,
    size_t* workspaceInBytesOnDevice, size_t* workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                 cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                                 cudaDataType dataTypeA, void* A, int64_t lda,
                                 cudaDataType dataTypeW, void* W, cudaDataType dataTypeVL, void* VL,
                                 int64_t ldvl, cudaDataType dataTypeVR, void* VR, int64_t ldvr,
                                 cudaDataType computeType, void* bufferOnDevice,
                                 size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                 size_t workspaceInBytesOnHost, int* info);

#ifdef __cplusplus
}
#endif
