// SPDX-License-Identifier: MIT
// cuBLAS level 1: operations on vectors.
#include <cmath>

#include "blas/calls.h"
#include "blas/handle.h"

namespace blas {
namespace {

// Element i of a vector. With a negative stride BLAS counts from the other end.
template <class T>
T& element(T* x, int n, int stride, int i) {
    return x[stride >= 0 ? int64_t(i) * stride : int64_t(n - 1 - i) * -int64_t(stride)];
}

// The index, from 1, of the first best element by `better`; 0 if the vector is empty.
template <class T, class Better>
int extreme(int n, const T* x, int incx, Better better) {
    if (n < 1 || incx < 1) return 0;
    int best = 0;
    for (int i = 1; i < n; ++i)
        if (better(std::fabs(element(x, n, incx, i)), std::fabs(element(x, n, incx, best))))
            best = i;
    return best + 1;
}

// A function of one or two vectors with one result, in host or device memory.
template <class R, class Int, class F>
cublasStatus_t reduction(const char* name, cublasHandle_t handle, Int n,
                         std::vector<Operand> inputs, R* result, F&& value) {
    return function(name, handle, [&](cublasContext& context) {
        if (!result) return CUBLAS_STATUS_INVALID_VALUE;
        if (!fit(n)) return too_large(name);
        if (context.scalars_on_device()) {
            inputs.push_back(written(vector_of("result", result, 1)));
            const size_t last = inputs.size() - 1;
            return run(context, name, std::move(inputs), [=](std::byte* const* at) {
                const R computed = R(value(at));
                std::memcpy(at[last], &computed, sizeof computed);
            });
        }
        if (n <= 0) {
            *result = R(0);
            return CUBLAS_STATUS_SUCCESS;
        }
        return run(
            context,
            name,
            std::move(inputs),
            [=](std::byte* const* at) { *result = R(value(at)); },
            true);
    });
}

// The API's functions, for float and double and for both types of sizes.
template <class T, class Int>
cublasStatus_t do_axpy(const char* name, cublasHandle_t handle, Int n, const T* alpha, const T* x,
                       Int incx, T* y, Int incy) {
    return function(name, handle, [&](cublasContext& context) {
        if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
        if (n <= 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(n, incx, incy)) return too_large(name);
        const Scalar<T> a(alpha, context.scalars_on_device());
        return run(
            context,
            name,
            {vector_of("x", x, n, incx), updated(vector_of("y", y, n, incy)), a.operand("alpha")},
            [=](std::byte* const* at) {
                const T factor = a.value(at[2]);
                axpy(int(n), factor, as<T>(at[0]), int(incx), as<T>(at[1]), int(incy));
            });
    });
}

template <class T, class Int>
cublasStatus_t do_copy(const char* name, cublasHandle_t handle, Int n, const T* x, Int incx, T* y,
                       Int incy) {
    return function(name, handle, [&](cublasContext& context) {
        if (n <= 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(n, incx, incy)) return too_large(name);
        return run(context,
                   name,
                   {vector_of("x", x, n, incx), written(vector_of("y", y, n, incy))},
                   [=](std::byte* const* at) {
                       for (int i = 0; i < int(n); ++i)
                           element(as<T>(at[1]), int(n), int(incy), i) =
                               element(as<T>(at[0]), int(n), int(incx), i);
                   });
    });
}

template <class T, class Int>
cublasStatus_t do_swap(const char* name, cublasHandle_t handle, Int n, T* x, Int incx, T* y,
                       Int incy) {
    return function(name, handle, [&](cublasContext& context) {
        if (n <= 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(n, incx, incy)) return too_large(name);
        return run(context,
                   name,
                   {updated(vector_of("x", x, n, incx)), updated(vector_of("y", y, n, incy))},
                   [=](std::byte* const* at) {
                       for (int i = 0; i < int(n); ++i)
                           std::swap(element(as<T>(at[1]), int(n), int(incy), i),
                                     element(as<T>(at[0]), int(n), int(incx), i));
                   });
    });
}

template <class T, class Int>
cublasStatus_t do_scal(const char* name, cublasHandle_t handle, Int n, const T* alpha, T* x,
                       Int incx) {
    return function(name, handle, [&](cublasContext& context) {
        if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
        if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
        if (!fit(n, incx)) return too_large(name);
        const Scalar<T> a(alpha, context.scalars_on_device());
        return run(context,
                   name,
                   {updated(vector_of("x", x, n, incx)), a.operand("alpha")},
                   [=](std::byte* const* at) {
                       const T factor = a.value(at[1]);
                       for (int i = 0; i < int(n); ++i)
                           element(as<T>(at[0]), int(n), int(incx), i) *= factor;
                   });
    });
}

template <bool kConjugate, class T, class Int>
cublasStatus_t do_dot(const char* name, cublasHandle_t handle, Int n, const T* x, Int incx,
                      const T* y, Int incy, T* result) {
    return reduction(name,
                     handle,
                     n,
                     {vector_of("x", x, n, incx), vector_of("y", y, n, incy)},
                     result,
                     [=](std::byte* const* at) {
                         if (n <= 0) return T(0);
                         return dot<kConjugate>(
                             int(n), as<T>(at[0]), int(incx), as<T>(at[1]), int(incy));
                     });
}

// A result of one vector; 0 if the stride is below 1 (cuBLAS, "cublas<t>nrm2()").
template <class R, class T, class Int, class F>
cublasStatus_t of_one(const char* name, cublasHandle_t handle, Int n, const T* x, Int incx,
                      R* result, F value) {
    if (incx < 1) n = 0;
    return reduction(
        name, handle, n, {vector_of("x", x, n, incx)}, result, [=](std::byte* const* at) {
            return n <= 0 ? R(0) : R(value(int(n), as<T>(at[0]), int(incx)));
        });
}

}  // namespace
}  // namespace blas

using namespace blas;

// Define the exported names, with sizes of int and int64_t: for all types, for real and complex
// sums, and for indices.
#define VECTORS(T, P, INT, S)                                                                      \
    STAND_IN_API cublasStatus_t cublas##P##axpy_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* alpha, const T* x, INT incx, T* y, INT incy) {      \
        return do_axpy("cublas" #P "axpy" #S, handle, n, num(alpha), num(x), incx, num(y), incy);  \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##copy_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* x, INT incx, T* y, INT incy) {                      \
        return do_copy("cublas" #P "copy" #S, handle, n, num(x), incx, num(y), incy);              \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##swap_v2##S(                                             \
        cublasHandle_t handle, INT n, T* x, INT incx, T* y, INT incy) {                            \
        return do_swap("cublas" #P "swap" #S, handle, n, num(x), incx, num(y), incy);              \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##scal_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* alpha, T* x, INT incx) {                            \
        return do_scal("cublas" #P "scal" #S, handle, n, num(alpha), num(x), incx);                \
    }

#define REAL_DOT(T, P, INT, S)                                                                     \
    STAND_IN_API cublasStatus_t cublas##P##dot_v2##S(                                              \
        cublasHandle_t handle, INT n, const T* x, INT incx, const T* y, INT incy, T* result) {     \
        return do_dot<false>("cublas" #P "dot" #S, handle, n, x, incx, y, incy, result);           \
    }

#define COMPLEX_DOT(T, P, INT, S)                                                                  \
    STAND_IN_API cublasStatus_t cublas##P##dotu_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* x, INT incx, const T* y, INT incy, T* result) {     \
        const char* name = "cublas" #P "dotu" #S;                                                  \
        return do_dot<false>(name, handle, n, num(x), incx, num(y), incy, num(result));            \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##dotc_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* x, INT incx, const T* y, INT incy, T* result) {     \
        const char* name = "cublas" #P "dotc" #S;                                                  \
        return do_dot<true>(name, handle, n, num(x), incx, num(y), incy, num(result));             \
    }

// `R`: a magnitude; `P`: its letter and, for complex vectors, theirs.
#define NORMS(T, R, P, INT, S)                                                                     \
    STAND_IN_API cublasStatus_t cublas##P##nrm2_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* x, INT incx, R* result) {                           \
        const auto value = [](int count, const Number<T>* v, int stride) {                         \
            return norm(count, v, stride);                                                         \
        };                                                                                         \
        return of_one("cublas" #P "nrm2" #S, handle, n, num(x), incx, result, value);              \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##asum_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* x, INT incx, R* result) {                           \
        const auto value = [](int count, const Number<T>* v, int stride) {                         \
            return absolute_sum(count, v, stride);                                                 \
        };                                                                                         \
        return of_one("cublas" #P "asum" #S, handle, n, num(x), incx, result, value);              \
    }

#define INDICES(T, p, INT, S)                                                                      \
    STAND_IN_API cublasStatus_t cublasI##p##amax_v2##S(                                            \
        cublasHandle_t handle, INT n, const T* x, INT incx, INT* result) {                         \
        const auto value = [](int count, const T* v, int stride) {                                 \
            return extreme(count, v, stride, std::greater<>());                                    \
        };                                                                                         \
        return of_one("cublasI" #p "amax" #S, handle, n, x, incx, result, value);                  \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublasI##p##amin_v2##S(                                            \
        cublasHandle_t handle, INT n, const T* x, INT incx, INT* result) {                         \
        const auto value = [](int count, const T* v, int stride) {                                 \
            return extreme(count, v, stride, std::less<>());                                       \
        };                                                                                         \
        return of_one("cublasI" #p "amin" #S, handle, n, x, incx, result, value);                  \
    }

#define LEVEL1(INT, SUFFIX)                                                                        \
    VECTORS(float, S, INT, SUFFIX)                                                                 \
    VECTORS(double, D, INT, SUFFIX)                                                                \
    VECTORS(cuComplex, C, INT, SUFFIX)                                                             \
    VECTORS(cuDoubleComplex, Z, INT, SUFFIX)                                                       \
    REAL_DOT(float, S, INT, SUFFIX)                                                                \
    REAL_DOT(double, D, INT, SUFFIX)                                                               \
    COMPLEX_DOT(cuComplex, C, INT, SUFFIX)                                                         \
    COMPLEX_DOT(cuDoubleComplex, Z, INT, SUFFIX)                                                   \
    NORMS(float, float, S, INT, SUFFIX)                                                            \
    NORMS(double, double, D, INT, SUFFIX)                                                          \
    NORMS(cuComplex, float, Sc, INT, SUFFIX)                                                       \
    NORMS(cuDoubleComplex, double, Dz, INT, SUFFIX)                                                \
    INDICES(float, s, INT, SUFFIX)                                                                 \
    INDICES(double, d, INT, SUFFIX)

LEVEL1(int, )
LEVEL1(int64_t, _64)
