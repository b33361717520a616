// SPDX-License-Identifier: MIT
// cuBLAS level 1: operations on vectors.
#include <cblas.h>
#include <cmath>

#include "blas/handle.h"

namespace blas {
namespace {

void axpy(int n, float a, const float* x, int incx, float* y, int incy) {
    cblas_saxpy(n, a, x, incx, y, incy);
}
void axpy(int n, double a, const double* x, int incx, double* y, int incy) {
    cblas_daxpy(n, a, x, incx, y, incy);
}
float dot(int n, const float* x, int incx, const float* y, int incy) {
    return cblas_sdot(n, x, incx, y, incy);
}
double dot(int n, const double* x, int incx, const double* y, int incy) {
    return cblas_ddot(n, x, incx, y, incy);
}
float norm(int n, const float* x, int incx) {
    return cblas_snrm2(n, x, incx);
}
double norm(int n, const double* x, int incx) {
    return cblas_dnrm2(n, x, incx);
}
float absolute_sum(int n, const float* x, int incx) {
    return cblas_sasum(n, x, incx);
}
double absolute_sum(int n, const double* x, int incx) {
    return cblas_dasum(n, x, incx);
}

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

template <class T, class Int>
cublasStatus_t do_dot(const char* name, cublasHandle_t handle, Int n, const T* x, Int incx,
                      const T* y, Int incy, T* result) {
    return reduction(name,
                     handle,
                     n,
                     {vector_of("x", x, n, incx), vector_of("y", y, n, incy)},
                     result,
                     [=](std::byte* const* at) {
                         if (n <= 0) return T(0);
                         return dot(int(n), as<T>(at[0]), int(incx), as<T>(at[1]), int(incy));
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

// Defines the exported names for float and double, int and int64_t.
#define LEVEL1(T, P, p, INT, S)                                                                    \
    STAND_IN_API cublasStatus_t cublas##P##axpy_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* alpha, const T* x, INT incx, T* y, INT incy) {      \
        return do_axpy("cublas" #P "axpy" #S, handle, n, alpha, x, incx, y, incy);                 \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##copy_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* x, INT incx, T* y, INT incy) {                      \
        return do_copy("cublas" #P "copy" #S, handle, n, x, incx, y, incy);                        \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##swap_v2##S(                                             \
        cublasHandle_t handle, INT n, T* x, INT incx, T* y, INT incy) {                            \
        return do_swap("cublas" #P "swap" #S, handle, n, x, incx, y, incy);                        \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##scal_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* alpha, T* x, INT incx) {                            \
        return do_scal("cublas" #P "scal" #S, handle, n, alpha, x, incx);                          \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##dot_v2##S(                                              \
        cublasHandle_t handle, INT n, const T* x, INT incx, const T* y, INT incy, T* result) {     \
        return do_dot("cublas" #P "dot" #S, handle, n, x, incx, y, incy, result);                  \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##nrm2_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* x, INT incx, T* result) {                           \
        const auto value = [](int count, const T* v, int stride) {                                 \
            return norm(count, v, stride);                                                         \
        };                                                                                         \
        return of_one("cublas" #P "nrm2" #S, handle, n, x, incx, result, value);                   \
    }                                                                                              \
    STAND_IN_API cublasStatus_t cublas##P##asum_v2##S(                                             \
        cublasHandle_t handle, INT n, const T* x, INT incx, T* result) {                           \
        const auto value = [](int count, const T* v, int stride) {                                 \
            return absolute_sum(count, v, stride);                                                 \
        };                                                                                         \
        return of_one("cublas" #P "asum" #S, handle, n, x, incx, result, value);                   \
    }                                                                                              \
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

LEVEL1(float, S, s, int, )
LEVEL1(float, S, s, int64_t, _64)
LEVEL1(double, D, d, int, )
LEVEL1(double, D, d, int64_t, _64)
