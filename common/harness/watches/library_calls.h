// SPDX-License-Identifier: MIT
// Stands between a lesson's program and cuBLAS, cuSOLVER and cuFFT: keeps a list of the calls made,
// with the streams that their handles have, and lets a chosen one fail. Like cuda_calls.h it
// *defines* the libraries' functions: include it in one file. It watches the functions that are
// listed at its end, while a wb::LibraryWatch is alive.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <cublas_v2.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <dlfcn.h>

namespace wb {
namespace {

// One call: `handle` is that of cuBLAS or cuSOLVER, or the number of a plan; none for what makes
// one.
struct LibraryCall {
    std::string name;
    uintptr_t handle = 0;
    cudaStream_t stream = nullptr;  // which the handle had; null: the default one
    bool makes = false;             // a handle or a plan
    bool computes = false;          // work for the device
};

class LibraryWatch {
public:
    LibraryWatch() { current() = this; }
    ~LibraryWatch() { current() = nullptr; }
    LibraryWatch(const LibraryWatch&) = delete;
    LibraryWatch& operator=(const LibraryWatch&) = delete;

    std::vector<LibraryCall> calls;
    // The call with this number (from 0) fails, without doing anything.
    std::optional<size_t> fail_call;

    size_t made() const {
        size_t found = 0;
        for (const LibraryCall& call : calls) found += call.makes;
        return found;
    }
    // The names of the calls that compute, in order: "cublasSgemm, cublasSgeam".
    std::string computed() const {
        std::string names;
        for (const LibraryCall& call : calls)
            if (call.computes) names += (names.empty() ? "" : ", ") + call.name;
        return names.empty() ? "none" : names;
    }

    static LibraryWatch*& current() {
        static LibraryWatch* watch = nullptr;
        return watch;
    }
    // The stream that each handle was given last, from the start of the program on.
    static std::map<uintptr_t, cudaStream_t>& streams() {
        static std::map<uintptr_t, cudaStream_t> streams;
        return streams;
    }
};

namespace library_detail {

template <class T>
uintptr_t number(T handle) {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<uintptr_t>(handle);
    } else {
        return static_cast<uintptr_t>(handle);
    }
}

template <class T>
uintptr_t with_stream(T handle, cudaStream_t stream) {
    LibraryWatch::streams()[number(handle)] = stream;
    return number(handle);
}
// A handle that is made later may get the same number.
template <class T>
uintptr_t without_stream(T handle) {
    LibraryWatch::streams().erase(number(handle));
    return number(handle);
}

enum class Does { kMakes, kComputes, kElse };

// Notes a call; returns whether it is to fail.
inline bool enter(const char* name, uintptr_t handle, Does does) {
    LibraryWatch* watch = LibraryWatch::current();
    if (!watch) return false;
    std::string plain = name;
    const size_t at = plain.rfind("_v2");
    if (at != std::string::npos && at + 3 == plain.size()) plain.resize(at);
    const auto& streams = LibraryWatch::streams();
    const auto found = streams.find(handle);
    watch->calls.push_back({plain,
                            handle,
                            found == streams.end() ? nullptr : found->second,
                            does == Does::kMakes,
                            does == Does::kComputes});
    return watch->fail_call == watch->calls.size() - 1;
}

}  // namespace library_detail
}  // namespace
}  // namespace wb

// The last call is a jump, so that the emulated device blames the caller's line and not this file.
// In two steps, so that a name which the headers replace (cublasSgemm_v2) is looked up as replaced.
#define WB_TEXT_OF(name) #name
#define WB_TEXT(name) WB_TEXT_OF(name)
#define WB_LIBRARY(Status, failed, function, parameters, arguments, ...)                           \
    extern "C" __attribute__((optimize("O2"))) Status function parameters {                        \
        using Function = Status parameters;                                                        \
        if (wb::library_detail::enter(WB_TEXT(function), __VA_ARGS__)) return failed;              \
        return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, WB_TEXT(function))) arguments;         \
    }
#define WB_BLAS(function, parameters, arguments, ...)                                              \
    WB_LIBRARY(cublasStatus_t,                                                                     \
               CUBLAS_STATUS_EXECUTION_FAILED,                                                     \
               function,                                                                           \
               parameters,                                                                         \
               arguments,                                                                          \
               __VA_ARGS__)
#define WB_SOLVER(function, parameters, arguments, ...)                                            \
    WB_LIBRARY(cusolverStatus_t,                                                                   \
               CUSOLVER_STATUS_EXECUTION_FAILED,                                                   \
               function,                                                                           \
               parameters,                                                                         \
               arguments,                                                                          \
               __VA_ARGS__)
#define WB_FFT(function, parameters, arguments, ...)                                               \
    WB_LIBRARY(cufftResult, CUFFT_EXEC_FAILED, function, parameters, arguments, __VA_ARGS__)

// What a function does: makes a handle, sets its stream, destroys it; asks for a size; computes.
#define WB_MAKES 0, wb::library_detail::Does::kMakes
#define WB_SETS_STREAM                                                                             \
    wb::library_detail::with_stream(handle, stream), wb::library_detail::Does::kElse
#define WB_DESTROYS wb::library_detail::without_stream(handle), wb::library_detail::Does::kElse
#define WB_ASKS wb::library_detail::number(handle), wb::library_detail::Does::kElse
#define WB_COMPUTES wb::library_detail::number(handle), wb::library_detail::Does::kComputes

WB_BLAS(cublasCreate_v2, (cublasHandle_t * made), (made), WB_MAKES)
WB_BLAS(cublasDestroy_v2, (cublasHandle_t handle), (handle), WB_DESTROYS)
WB_BLAS(cublasSetStream_v2, (cublasHandle_t handle, cudaStream_t stream), (handle, stream),
        WB_SETS_STREAM)
WB_BLAS(cublasSgemm_v2,
        (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
         const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
         float* c, int ldc),
        (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), WB_COMPUTES)
WB_BLAS(cublasGemmEx,
        (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
         const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
         cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
         cublasComputeType_t compute, cublasGemmAlgo_t algorithm),
        (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
         compute, algorithm),
        WB_COMPUTES)
WB_BLAS(cublasSgemmStridedBatched,
        (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
         const float* alpha, const float* a, int lda, long long step_a, const float* b, int ldb,
         long long step_b, const float* beta, float* c, int ldc, long long step_c, int count),
        (handle, op_a, op_b, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c,
         count),
        WB_COMPUTES)
WB_BLAS(cublasSgemv_v2,
        (cublasHandle_t handle, cublasOperation_t op, int m, int n, const float* alpha,
         const float* a, int lda, const float* x, int incx, const float* beta, float* y, int incy),
        (handle, op, m, n, alpha, a, lda, x, incx, beta, y, incy), WB_COMPUTES)
WB_BLAS(cublasSgeam,
        (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
         const float* alpha, const float* a, int lda, const float* beta, const float* b, int ldb,
         float* c, int ldc),
        (handle, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc), WB_COMPUTES)
WB_BLAS(cublasStrsm_v2,
        (cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
         cublasDiagType_t diagonal, int m, int n, const float* alpha, const float* a, int lda,
         float* b, int ldb),
        (handle, side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb), WB_COMPUTES)
WB_BLAS(cublasSscal_v2, (cublasHandle_t handle, int n, const float* alpha, float* x, int incx),
        (handle, n, alpha, x, incx), WB_COMPUTES)
WB_BLAS(cublasSaxpy_v2,
        (cublasHandle_t handle, int n, const float* alpha, const float* x, int incx, float* y,
         int incy),
        (handle, n, alpha, x, incx, y, incy), WB_COMPUTES)
WB_SOLVER(cusolverDnCreate, (cusolverDnHandle_t * made), (made), WB_MAKES)
WB_SOLVER(cusolverDnDestroy, (cusolverDnHandle_t handle), (handle), WB_DESTROYS)
WB_SOLVER(cusolverDnSetStream, (cusolverDnHandle_t handle, cudaStream_t stream), (handle, stream),
          WB_SETS_STREAM)
WB_SOLVER(cusolverDnSgetrf_bufferSize,
          (cusolverDnHandle_t handle, int m, int n, float* a, int lda, int* size),
          (handle, m, n, a, lda, size), WB_ASKS)
WB_SOLVER(cusolverDnSgetrf,
          (cusolverDnHandle_t handle, int m, int n, float* a, int lda, float* work, int* pivots,
           int* info),
          (handle, m, n, a, lda, work, pivots, info), WB_COMPUTES)
WB_SOLVER(cusolverDnSgetrs,
          (cusolverDnHandle_t handle, cublasOperation_t op, int n, int count, const float* a,
           int lda, const int* pivots, float* b, int ldb, int* info),
          (handle, op, n, count, a, lda, pivots, b, ldb, info), WB_COMPUTES)
WB_SOLVER(cusolverDnSgeqrf_bufferSize,
          (cusolverDnHandle_t handle, int m, int n, float* a, int lda, int* size),
          (handle, m, n, a, lda, size), WB_ASKS)
WB_SOLVER(cusolverDnSgeqrf,
          (cusolverDnHandle_t handle, int m, int n, float* a, int lda, float* tau, float* work,
           int size, int* info),
          (handle, m, n, a, lda, tau, work, size, info), WB_COMPUTES)
WB_SOLVER(cusolverDnSormqr_bufferSize,
          (cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n,
           int k, const float* a, int lda, const float* tau, const float* c, int ldc, int* size),
          (handle, side, op, m, n, k, a, lda, tau, c, ldc, size), WB_ASKS)
WB_SOLVER(cusolverDnSormqr,
          (cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n,
           int k, const float* a, int lda, const float* tau, float* c, int ldc, float* work,
           int size, int* info),
          (handle, side, op, m, n, k, a, lda, tau, c, ldc, work, size, info), WB_COMPUTES)
WB_SOLVER(cusolverDnSgesvd_bufferSize, (cusolverDnHandle_t handle, int m, int n, int* size),
          (handle, m, n, size), WB_ASKS)
WB_SOLVER(cusolverDnSgesvd,
          (cusolverDnHandle_t handle, signed char job_u, signed char job_vt, int m, int n, float* a,
           int lda, float* s, float* u, int ldu, float* vt, int ldvt, float* work, int size,
           float* rwork, int* info),
          (handle, job_u, job_vt, m, n, a, lda, s, u, ldu, vt, ldvt, work, size, rwork, info),
          WB_COMPUTES)
WB_SOLVER(cusolverDnSsyevd_bufferSize,
          (cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t fill, int n,
           const float* a, int lda, const float* values, int* size),
          (handle, mode, fill, n, a, lda, values, size), WB_ASKS)
WB_SOLVER(cusolverDnSsyevd,
          (cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t fill, int n,
           float* a, int lda, float* values, float* work, int size, int* info),
          (handle, mode, fill, n, a, lda, values, work, size, info), WB_COMPUTES)
WB_FFT(cufftPlan1d, (cufftHandle * made, int n, cufftType type, int batch), (made, n, type, batch),
       WB_MAKES)
WB_FFT(cufftPlanMany,
       (cufftHandle * made, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
        int ostride, int odist, cufftType type, int batch),
       (made, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch), WB_MAKES)
WB_FFT(cufftCreate, (cufftHandle * made), (made), WB_MAKES)
WB_FFT(cufftMakePlan1d, (cufftHandle handle, int n, cufftType type, int batch, size_t* size),
       (handle, n, type, batch, size), WB_ASKS)
WB_FFT(cufftDestroy, (cufftHandle handle), (handle), WB_DESTROYS)
WB_FFT(cufftSetStream, (cufftHandle handle, cudaStream_t stream), (handle, stream), WB_SETS_STREAM)
WB_FFT(cufftExecR2C, (cufftHandle handle, cufftReal* in, cufftComplex* out), (handle, in, out),
       WB_COMPUTES)
WB_FFT(cufftExecC2R, (cufftHandle handle, cufftComplex* in, cufftReal* out), (handle, in, out),
       WB_COMPUTES)
WB_FFT(cufftExecC2C, (cufftHandle handle, cufftComplex* in, cufftComplex* out, int direction),
       (handle, in, out, direction), WB_COMPUTES)

#undef WB_TEXT_OF
#undef WB_TEXT
#undef WB_LIBRARY
#undef WB_BLAS
#undef WB_SOLVER
#undef WB_FFT
#undef WB_MAKES
#undef WB_SETS_STREAM
#undef WB_DESTROYS
#undef WB_ASKS
#undef WB_COMPUTES
