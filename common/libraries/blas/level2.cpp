// SPDX-License-Identifier: MIT
// cuBLAS level 2: operations on a matrix and vectors.
#include "blas/calls.h"
#include "blas/handle.h"

namespace blas {
namespace {

template <class T, class Int>
cublasStatus_t do_gemv(const char* name, cublasHandle_t handle, cublasOperation_t trans, Int m,
                       Int n, const T* alpha, const T* a, Int lda, const T* x, Int incx,
                       const T* beta, T* y, Int incy) {
    return function(name, handle, [&](cublasContext& context) {
        if (!is_operation(trans) || m < 0 || n < 0 || incx == 0 || incy == 0 || !alpha || !beta ||
            lda < std::max<Int>(1, m))
            return CUBLAS_STATUS_INVALID_VALUE;
        if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(m, n, lda, incx, incy)) return too_large(name);
        const bool plain = trans == CUBLAS_OP_N;
        const Scalar<T> factor(alpha, context.scalars_on_device());
        const Scalar<T> old(beta, context.scalars_on_device());
        Operand in = matrix_of("A", a, m, n, lda);
        Operand vector = vector_of("x", x, plain ? n : m, incx);
        in.reads = vector.reads = !factor.is_certainly(T(0));
        Operand out = updated(vector_of("y", y, plain ? m : n, incy));
        out.reads_if = [=](std::byte* const* at) { return old.value(at[4]) != T(0); };
        return run(context,
                   name,
                   {in, vector, out, factor.operand("alpha"), old.operand("beta")},
                   [=](std::byte* const* at) {
                       gemv(trans,
                            int(m),
                            int(n),
                            factor.value(at[3]),
                            as<T>(at[0]),
                            int(lda),
                            as<T>(at[1]),
                            int(incx),
                            old.value(at[4]),
                            as<T>(at[2]),
                            int(incy));
                   });
    });
}

template <bool kConjugate, class T, class Int>
cublasStatus_t do_ger(const char* name, cublasHandle_t handle, Int m, Int n, const T* alpha,
                      const T* x, Int incx, const T* y, Int incy, T* a, Int lda) {
    return function(name, handle, [&](cublasContext& context) {
        if (m < 0 || n < 0 || incx == 0 || incy == 0 || !alpha || lda < std::max<Int>(1, m))
            return CUBLAS_STATUS_INVALID_VALUE;
        if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(m, n, lda, incx, incy)) return too_large(name);
        const Scalar<T> factor(alpha, context.scalars_on_device());
        return run(context,
                   name,
                   {vector_of("x", x, m, incx),
                    vector_of("y", y, n, incy),
                    updated(matrix_of("A", a, m, n, lda)),
                    factor.operand("alpha")},
                   [=](std::byte* const* at) {
                       ger<kConjugate>(int(m),
                                       int(n),
                                       factor.value(at[3]),
                                       as<T>(at[0]),
                                       int(incx),
                                       as<T>(at[1]),
                                       int(incy),
                                       as<T>(at[2]),
                                       int(lda));
                   });
    });
}

}  // namespace
}  // namespace blas

using namespace blas;

#define GEMV(T, P, INT, S)                                                                         \
    STAND_IN_API cublasStatus_t cublas##P##gemv_v2##S(cublasHandle_t handle,                       \
                                                      cublasOperation_t trans,                     \
                                                      INT m,                                       \
                                                      INT n,                                       \
                                                      const T* alpha,                              \
                                                      const T* A,                                  \
                                                      INT lda,                                     \
                                                      const T* x,                                  \
                                                      INT incx,                                    \
                                                      const T* beta,                               \
                                                      T* y,                                        \
                                                      INT incy) {                                  \
        const char* name = "cublas" #P "gemv" #S;                                                  \
        return do_gemv(name,                                                                       \
                       handle,                                                                     \
                       trans,                                                                      \
                       m,                                                                          \
                       n,                                                                          \
                       num(alpha),                                                                 \
                       num(A),                                                                     \
                       lda,                                                                        \
                       num(x),                                                                     \
                       incx,                                                                       \
                       num(beta),                                                                  \
                       num(y),                                                                     \
                       incy);                                                                      \
    }

#define GER(T, P, NAME, kConjugate, INT, S)                                                        \
    STAND_IN_API cublasStatus_t cublas##P##NAME##_v2##S(cublasHandle_t handle,                     \
                                                        INT m,                                     \
                                                        INT n,                                     \
                                                        const T* alpha,                            \
                                                        const T* x,                                \
                                                        INT incx,                                  \
                                                        const T* y,                                \
                                                        INT incy,                                  \
                                                        T* A,                                      \
                                                        INT lda) {                                 \
        return do_ger<kConjugate>("cublas" #P #NAME #S,                                            \
                                  handle,                                                          \
                                  m,                                                               \
                                  n,                                                               \
                                  num(alpha),                                                      \
                                  num(x),                                                          \
                                  incx,                                                            \
                                  num(y),                                                          \
                                  incy,                                                            \
                                  num(A),                                                          \
                                  lda);                                                            \
    }

#define LEVEL2(INT, SUFFIX)                                                                        \
    GEMV(float, S, INT, SUFFIX)                                                                    \
    GEMV(double, D, INT, SUFFIX)                                                                   \
    GEMV(cuComplex, C, INT, SUFFIX)                                                                \
    GEMV(cuDoubleComplex, Z, INT, SUFFIX)                                                          \
    GER(float, S, ger, false, INT, SUFFIX)                                                         \
    GER(double, D, ger, false, INT, SUFFIX)                                                        \
    GER(cuComplex, C, geru, false, INT, SUFFIX)                                                    \
    GER(cuComplex, C, gerc, true, INT, SUFFIX)                                                     \
    GER(cuDoubleComplex, Z, geru, false, INT, SUFFIX)                                              \
    GER(cuDoubleComplex, Z, gerc, true, INT, SUFFIX)

LEVEL2(int, )
LEVEL2(int64_t, _64)
