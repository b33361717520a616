// SPDX-License-Identifier: MIT
// cuBLAS's products of matrices that are anywhere: arrays of pointers in device memory.
#include "blas/gemm.h"
#include "pointer_array.h"

namespace blas {
namespace {

using stand_in::PointerArray;

template <class T, class Int>
cublasStatus_t do_gemm_batched(const char* name, cublasHandle_t handle, const Shape<Int>& shape,
                               const T* alpha, const T* const* a_array, const T* const* b_array,
                               const T* beta, T* const* c_array) {
    return function(name, handle, [&](cublasContext& context) {
        if (!alpha || !beta || !shape.valid()) return CUBLAS_STATUS_INVALID_VALUE;
        if (shape.empty()) return CUBLAS_STATUS_SUCCESS;
        if (!shape.fits() || !fit(shape.batch)) return too_large(name);
        const int64_t batch = shape.batch;
        PointerArray<const T> a(context.stream, name, "Aarray", a_array, batch);
        PointerArray<const T> b(context.stream, name, "Barray", b_array, batch);
        PointerArray<T> c(context.stream, name, "Carray", c_array, batch);
        if (!a.known() || !b.known() || !c.known())
            return a.captured() ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_EXECUTION_FAILED;
        const Scalar<T> factor(alpha, context.scalars_on_device());
        const Scalar<T> old(beta, context.scalars_on_device());
        const bool reads = !factor.is_certainly(T(0));
        Shape<Int> one = shape;
        one.batch = 1;
        // alpha and beta, and then A, B and C of each product.
        std::vector<Operand> operands = {factor.operand("alpha"), old.operand("beta")};
        for (int64_t i = 0; i < batch; ++i) {
            auto own = one.operands(
                sizeof(T), a.begin()[i], b.begin()[i], c.begin()[i], reads, factor, old);
            own[2].reads_if = [old](std::byte* const* at) { return old.value(at[1]) != T(0); };
            operands.insert(operands.end(), own.begin(), own.begin() + 3);
        }
        const Product product = one.product();
        return run(context, name, std::move(operands), [=](std::byte* const* at) {
            for (int64_t i = 0; i < batch; ++i) {
                std::byte* const* const own = at + 2 + 3 * i;
                gemm(product,
                     factor.value(at[0]),
                     as<T>(own[0]),
                     as<T>(own[1]),
                     old.value(at[1]),
                     as<T>(own[2]));
            }
        });
    });
}

}  // namespace
}  // namespace blas

using namespace blas;
using stand_in::numbers;

// S: nothing, or _64 for sizes of 64 bits.
#define GEMM_BATCHED(T, P, INT, S)                                                                 \
    STAND_IN_API cublasStatus_t cublas##P##gemmBatched##S(cublasHandle_t handle,                   \
                                                          cublasOperation_t transa,                \
                                                          cublasOperation_t transb,                \
                                                          INT m,                                   \
                                                          INT n,                                   \
                                                          INT k,                                   \
                                                          const T* alpha,                          \
                                                          const T* const Aarray[],                 \
                                                          INT lda,                                 \
                                                          const T* const Barray[],                 \
                                                          INT ldb,                                 \
                                                          const T* beta,                           \
                                                          T* const Carray[],                       \
                                                          INT ldc,                                 \
                                                          INT batchCount) {                        \
        const Shape<INT> shape{transa, transb, m, n, k, lda, ldb, ldc, 0, 0, 0, batchCount};       \
        return do_gemm_batched("cublas" #P "gemmBatched" #S,                                       \
                               handle,                                                             \
                               shape,                                                              \
                               num(alpha),                                                         \
                               numbers(Aarray),                                                    \
                               numbers(Barray),                                                    \
                               num(beta),                                                          \
                               numbers(Carray));                                                   \
    }

GEMM_BATCHED(float, S, int, )
GEMM_BATCHED(double, D, int, )
GEMM_BATCHED(cuComplex, C, int, )
GEMM_BATCHED(cuDoubleComplex, Z, int, )
GEMM_BATCHED(float, S, int64_t, _64)
GEMM_BATCHED(double, D, int64_t, _64)
GEMM_BATCHED(cuComplex, C, int64_t, _64)
GEMM_BATCHED(cuDoubleComplex, Z, int64_t, _64)
