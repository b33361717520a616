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
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info);
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info);
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

// Each declaration in this macro stands for one function of every type, so cusolverDn##P##getrf for
// cusolverDnSgetrf, cusolverDnDgetrf and so on:
//   T     the type of the numbers: float, double, cuComplex, cuDoubleComplex
//   P     its letter: S, D, C, Z
//   REAL  the type of magnitudes: float, double, float, double
// MQR, GQR, EVD and EVJ are names that begin with or and sy for real matrices, and with un and he
// for complex ones: those are unitary where real ones are orthogonal, Hermitian and not symmetric.
// clang-format would give each parameter in a macro a line of its own.
// clang-format off
#define CUSOLVER_FUNCTIONS(T, P, REAL, MQR, GQR, EVD, EVJ)                                         \
    cusolverStatus_t cusolverDn##P##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n,      \
        T* A, int lda, int* Lwork);                                                                \
    cusolverStatus_t cusolverDn##P##getrf(cusolverDnHandle_t handle, int m, int n, T* A, int lda,  \
        T* Workspace, int* devIpiv, int* devInfo);                                                 \
    cusolverStatus_t cusolverDn##P##getrs(cusolverDnHandle_t handle, cublasOperation_t trans,      \
        int n, int nrhs, const T* A, int lda, const int* devIpiv, T* B, int ldb, int* devInfo);    \
    cusolverStatus_t cusolverDn##P##potrf_bufferSize(cusolverDnHandle_t handle,                    \
        cublasFillMode_t uplo, int n, T* A, int lda, int* Lwork);                                  \
    cusolverStatus_t cusolverDn##P##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, \
        T* A, int lda, T* Workspace, int Lwork, int* devInfo);                                     \
    cusolverStatus_t cusolverDn##P##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, \
        int nrhs, const T* A, int lda, T* B, int ldb, int* devInfo);                               \
    cusolverStatus_t cusolverDn##P##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n,      \
        T* A, int lda, int* lwork);                                                                \
    cusolverStatus_t cusolverDn##P##geqrf(cusolverDnHandle_t handle, int m, int n, T* A, int lda,  \
        T* TAU, T* Workspace, int Lwork, int* devInfo);                                            \
    cusolverStatus_t cusolverDn##P##MQR##_bufferSize(cusolverDnHandle_t handle,                    \
        cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, const T* A, int lda,  \
        const T* tau, const T* C, int ldc, int* lwork);                                            \
    cusolverStatus_t cusolverDn##P##MQR(cusolverDnHandle_t handle, cublasSideMode_t side,          \
        cublasOperation_t trans, int m, int n, int k, const T* A, int lda, const T* tau, T* C,     \
        int ldc, T* work, int lwork, int* devInfo);                                                \
    cusolverStatus_t cusolverDn##P##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n,      \
        int* lwork);                                                                               \
    cusolverStatus_t cusolverDn##P##gesvd(cusolverDnHandle_t handle, signed char jobu,             \
        signed char jobvt, int m, int n, T* A, int lda, REAL* S, T* U, int ldu, T* VT, int ldvt,   \
        T* work, int lwork, REAL* rwork, int* info);                                               \
    cusolverStatus_t cusolverDn##P##EVD##_bufferSize(cusolverDnHandle_t handle,                    \
        cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, const T* A, int lda, const REAL* W,  \
        int* lwork);                                                                               \
    cusolverStatus_t cusolverDn##P##EVD(cusolverDnHandle_t handle, cusolverEigMode_t jobz,         \
        cublasFillMode_t uplo, int n, T* A, int lda, REAL* W, T* work, int lwork, int* info);      \
    cusolverStatus_t cusolverDn##P##GQR##_bufferSize(cusolverDnHandle_t handle, int m, int n,      \
        int k, const T* A, int lda, const T* tau, int* lwork);                                     \
    cusolverStatus_t cusolverDn##P##GQR(cusolverDnHandle_t handle, int m, int n, int k, T* A,      \
        int lda, const T* tau, T* work, int lwork, int* info);                                     \
    cusolverStatus_t cusolverDn##P##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, \
        int n, T* Aarray[], int lda, int* infoArray, int batchSize);                               \
    cusolverStatus_t cusolverDn##P##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, \
        int n, int nrhs, T* A[], int lda, T* B[], int ldb, int* d_info, int batchSize);            \
    cusolverStatus_t cusolverDn##P##EVJ##Batched_bufferSize(cusolverDnHandle_t handle,             \
        cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, const T* A, int lda, const REAL* W,  \
        int* lwork, syevjInfo_t params, int batchSize);                                            \
    cusolverStatus_t cusolverDn##P##EVJ##Batched(cusolverDnHandle_t handle,                        \
        cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, REAL* W, T* work,     \
        int lwork, int* info, syevjInfo_t params, int batchSize);                                  \
    cusolverStatus_t cusolverDn##P##EVJ##_bufferSize(cusolverDnHandle_t handle,                    \
        cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, const T* A, int lda, const REAL* W,  \
        int* lwork, syevjInfo_t params);                                                           \
    cusolverStatus_t cusolverDn##P##EVJ(cusolverDnHandle_t handle, cusolverEigMode_t jobz,         \
        cublasFillMode_t uplo, int n, T* A, int lda, REAL* W, T* work, int lwork, int* info,       \
        syevjInfo_t params);                                                                       \
    cusolverStatus_t cusolverDn##P##gesvdj_bufferSize(cusolverDnHandle_t handle,                   \
        cusolverEigMode_t jobz, int econ, int m, int n, const T* A, int lda, const REAL* S,        \
        const T* U, int ldu, const T* V, int ldv, int* lwork, gesvdjInfo_t params);                \
    cusolverStatus_t cusolverDn##P##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,      \
        int econ, int m, int n, T* A, int lda, REAL* S, T* U, int ldu, T* V, int ldv, T* work,     \
        int lwork, int* info, gesvdjInfo_t params);                                                \
    cusolverStatus_t cusolverDn##P##gesvdjBatched_bufferSize(cusolverDnHandle_t handle,            \
        cusolverEigMode_t jobz, int m, int n, const T* A, int lda, const REAL* S, const T* U,      \
        int ldu, const T* V, int ldv, int* lwork, gesvdjInfo_t params, int batchSize);             \
    cusolverStatus_t cusolverDn##P##gesvdjBatched(cusolverDnHandle_t handle,                       \
        cusolverEigMode_t jobz, int m, int n, T* A, int lda, REAL* S, T* U, int ldu, T* V,         \
        int ldv, T* work, int lwork, int* info, gesvdjInfo_t params, int batchSize);               \
    cusolverStatus_t cusolverDn##P##gesvdaStridedBatched_bufferSize(cusolverDnHandle_t handle,     \
        cusolverEigMode_t jobz, int rank, int m, int n, const T* d_A, int lda,                     \
        long long int strideA, const REAL* d_S, long long int strideS, const T* d_U, int ldu,      \
        long long int strideU, const T* d_V, int ldv, long long int strideV, int* lwork,           \
        int batchSize);                                                                            \
    cusolverStatus_t cusolverDn##P##gesvdaStridedBatched(cusolverDnHandle_t handle,                \
        cusolverEigMode_t jobz, int rank, int m, int n, const T* d_A, int lda,                     \
        long long int strideA, REAL* d_S, long long int strideS, T* d_U, int ldu,                  \
        long long int strideU, T* d_V, int ldv, long long int strideV, T* d_work, int lwork,       \
        int* d_info, double* h_R_nrmF, int batchSize);
// clang-format on

CUSOLVER_FUNCTIONS(float, S, float, ormqr, orgqr, syevd, syevj)
CUSOLVER_FUNCTIONS(double, D, double, ormqr, orgqr, syevd, syevj)
CUSOLVER_FUNCTIONS(cuComplex, C, float, unmqr, ungqr, heevd, heevj)
CUSOLVER_FUNCTIONS(cuDoubleComplex, Z, double, unmqr, ungqr, heevd, heevj)
#undef CUSOLVER_FUNCTIONS

#ifdef __cplusplus
}
#endif
