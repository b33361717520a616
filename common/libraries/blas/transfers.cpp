// SPDX-License-Identifier: MIT
// cuBLAS's copies between host and device: cublasSetVector, cublasGetMatrix and so on.
#include "blas/handle.h"

namespace blas {
namespace {

// `count` rows of `width` bytes; the pitches may be larger.
cublasStatus_t transfer(const char* name, void* to, int64_t to_pitch, const void* from,
                        int64_t from_pitch, int64_t width, int64_t count, cudaMemcpyKind kind,
                        const cudaStream_t* stream) {
    if (width < 0 || count < 0) return finish(name, CUBLAS_STATUS_INVALID_VALUE);
    if (width == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
    if (to_pitch < width || from_pitch < width) return finish(name, CUBLAS_STATUS_INVALID_VALUE);
    const size_t w = size_t(width), n = size_t(count);
    const size_t tp = size_t(to_pitch), fp = size_t(from_pitch);
    const cudaError_t error = stream ? cudaMemcpy2DAsync(to, tp, from, fp, w, n, kind, *stream)
                                     : cudaMemcpy2D(to, tp, from, fp, w, n, kind);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : finish(name, CUBLAS_STATUS_MAPPING_ERROR);
}

cublasStatus_t vector(const char* name, int64_t n, int64_t bytes, const void* x, int64_t incx,
                      void* y, int64_t incy, cudaMemcpyKind kind, const cudaStream_t* stream) {
    if (bytes <= 0 || incx <= 0 || incy <= 0) return finish(name, CUBLAS_STATUS_INVALID_VALUE);
    if (incx == 1 && incy == 1)
        return transfer(name, y, n * bytes, x, n * bytes, n * bytes, 1, kind, stream);
    return transfer(name, y, incy * bytes, x, incx * bytes, bytes, n, kind, stream);
}

cublasStatus_t matrix(const char* name, int64_t rows, int64_t cols, int64_t bytes, const void* a,
                      int64_t lda, void* b, int64_t ldb, cudaMemcpyKind kind,
                      const cudaStream_t* stream) {
    if (bytes <= 0 || lda <= 0 || ldb <= 0) return finish(name, CUBLAS_STATUS_INVALID_VALUE);
    return transfer(name, b, ldb * bytes, a, lda * bytes, rows * bytes, cols, kind, stream);
}

}  // namespace
}  // namespace blas

using namespace blas;

#define TRANSFERS(WAY, KIND, INT, S)                                                               \
    STAND_IN_API cublasStatus_t cublas##WAY##Vector##S(                                            \
        INT n, INT elemSize, const void* x, INT incx, void* y, INT incy) {                         \
        return vector("cublas" #WAY "Vector" #S, n, elemSize, x, incx, y, incy, KIND, nullptr);    \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##WAY##VectorAsync##S(                                       \
        INT n, INT elemSize, const void* x, INT incx, void* y, INT incy, cudaStream_t stream) {    \
        const char* name = "cublas" #WAY "VectorAsync" #S;                                         \
        return vector(name, n, elemSize, x, incx, y, incy, KIND, &stream);                         \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##WAY##Matrix##S(                                            \
        INT rows, INT cols, INT elemSize, const void* A, INT lda, void* B, INT ldb) {              \
        const char* name = "cublas" #WAY "Matrix" #S;                                              \
        return matrix(name, rows, cols, elemSize, A, lda, B, ldb, KIND, nullptr);                  \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##WAY##MatrixAsync##S(INT rows,                              \
                                                            INT cols,                              \
                                                            INT elemSize,                          \
                                                            const void* A,                         \
                                                            INT lda,                               \
                                                            void* B,                               \
                                                            INT ldb,                               \
                                                            cudaStream_t stream) {                 \
        const char* name = "cublas" #WAY "MatrixAsync" #S;                                         \
        return matrix(name, rows, cols, elemSize, A, lda, B, ldb, KIND, &stream);                  \
    }

TRANSFERS(Set, cudaMemcpyHostToDevice, int, )
TRANSFERS(Set, cudaMemcpyHostToDevice, int64_t, _64)
TRANSFERS(Get, cudaMemcpyDeviceToHost, int, )
TRANSFERS(Get, cudaMemcpyDeviceToHost, int64_t, _64)
