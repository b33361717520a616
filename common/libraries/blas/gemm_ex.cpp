// SPDX-License-Identifier: MIT
// cublasGemmEx and cublasGemmStridedBatchedEx: products of half and bfloat16 matrices with sums in
// float, and of real and complex float and double.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "blas/gemm.h"

namespace blas {
namespace {

uint32_t bytes_of(cudaDataType type) {
    switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    default:
        return 4;
    }
}

float load(cudaDataType type, const std::byte* at, int64_t i) {
    switch (type) {
    case CUDA_R_16F:
        return __half2float(reinterpret_cast<const __half*>(at)[i]);
    case CUDA_R_16BF:
        return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(at)[i]);
    default:
        return reinterpret_cast<const float*>(at)[i];
    }
}

void store(cudaDataType type, std::byte* at, int64_t i, float value) {
    switch (type) {
    case CUDA_R_16F:
        reinterpret_cast<__half*>(at)[i] = __float2half_rn(value);
        break;
    case CUDA_R_16BF:
        reinterpret_cast<__nv_bfloat16*>(at)[i] = __float2bfloat16_rn(value);
        break;
    default:
        reinterpret_cast<float*>(at)[i] = value;
    }
}

// Converts `columns` columns of `rows` elements to packed floats.
std::vector<float> widened(cudaDataType type, const std::byte* at, int rows, int columns,
                           int leading) {
    std::vector<float> out(size_t(rows) * size_t(columns));
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i)
            out[size_t(j * rows + i)] = load(type, at, j * leading + i);
    return out;
}

struct Types {
    cudaDataType in, out;
    cublasComputeType_t compute;
};

// The combinations of floating-point types in cuBLAS's table for cublasGemmEx().
bool supported(const Types& types) {
    switch (types.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return types.in == CUDA_R_16F && types.out == CUDA_R_16F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        return ((types.in == CUDA_R_16F || types.in == CUDA_R_16BF || types.in == CUDA_R_32F) &&
                (types.out == types.in || types.out == CUDA_R_32F)) ||
               (types.in == CUDA_C_32F && types.out == CUDA_C_32F);
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        return (types.in == CUDA_R_32F || types.in == CUDA_C_32F) && types.out == types.in;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        return (types.in == CUDA_R_64F || types.in == CUDA_C_64F) && types.out == types.in;
    default:
        return false;
    }
}

// alpha and beta have the type of the sums: half for CUBLAS_COMPUTE_16F.
template <class T>
float number(T value) {
    return float(value);
}
template <>
float number(__half value) {
    return __half2float(value);
}

// Sums in float for every compute type, which is at least as exact as tensor cores.
template <class T>
void product_in_float(const Product& p, const Types& types, T alpha, const std::byte* a,
                      const std::byte* b, T beta, std::byte* c) {
    const bool plain_a = p.transa == CUBLAS_OP_N, plain_b = p.transb == CUBLAS_OP_N;
    const auto wide_a = widened(types.in, a, plain_a ? p.m : p.k, plain_a ? p.k : p.m, p.lda);
    const auto wide_b = widened(types.in, b, plain_b ? p.k : p.n, plain_b ? p.n : p.k, p.ldb);
    const bool reads = number(beta) != 0;
    std::vector<float> wide_c =
        reads ? widened(types.out, c, p.m, p.n, p.ldc) : std::vector<float>(size_t(p.m) * p.n);
    gemm(p.transa,
         p.transb,
         p.m,
         p.n,
         p.k,
         number(alpha),
         wide_a.data(),
         std::max(1, plain_a ? p.m : p.k),
         wide_b.data(),
         std::max(1, plain_b ? p.k : p.n),
         number(beta),
         wide_c.data(),
         p.m);
    for (int64_t j = 0; j < p.n; ++j)
        for (int64_t i = 0; i < p.m; ++i)
            store(types.out, c, j * p.ldc + i, wide_c[size_t(j * p.m + i)]);
}

bool is_zero(__half value) {
    return __half2float(value) == 0;
}
template <class T>
bool is_zero(T value) {
    return value == T(0);
}

template <class T, class Int, class F>
cublasStatus_t run_product(cublasContext& context, const char* name, const Shape<Int>& shape,
                           const Types& types, const void* alpha, const void* a, const void* b,
                           const void* beta, void* c, F compute) {
    const bool on_device = context.scalars_on_device();
    const Scalar<T> factor(static_cast<const T*>(alpha), on_device);
    const Scalar<T> old(static_cast<const T*>(beta), on_device);
    const bool reads = on_device || !is_zero(factor.value(nullptr));
    std::vector<Operand> operands =
        shape.operands(bytes_of(types.in), bytes_of(types.out), a, b, c, reads, factor, old);
    operands[2].reads_if = [old](std::byte* const* at) { return !is_zero(old.value(at[4])); };
    const Product product = shape.product();
    return run(context, name, std::move(operands), [=](std::byte* const* at) {
        const int64_t in = bytes_of(types.in), out = bytes_of(types.out);
        for (int64_t i = 0; i < product.batch; ++i)
            compute(product,
                    types,
                    factor.value(at[3]),
                    at[0] + i * product.stride_a * in,
                    at[1] + i * product.stride_b * in,
                    old.value(at[4]),
                    at[2] + i * product.stride_c * out);
    });
}

template <class T, class Int>
cublasStatus_t same_type(cublasContext& context, const char* name, const Shape<Int>& shape,
                         const void* alpha, const void* a, const void* b, const void* beta,
                         void* c) {
    return run_gemm(context,
                    name,
                    shape,
                    static_cast<const T*>(alpha),
                    static_cast<const T*>(a),
                    static_cast<const T*>(b),
                    static_cast<const T*>(beta),
                    static_cast<T*>(c));
}

template <class Int>
cublasStatus_t do_gemm_ex(const char* name, cublasHandle_t handle, const Shape<Int>& shape,
                          const void* alpha, const void* a, const void* b, const void* beta,
                          void* c, cudaDataType b_type, const Types& types) {
    return function(name, handle, [&](cublasContext& context) {
        if (!alpha || !beta || !shape.valid()) return CUBLAS_STATUS_INVALID_VALUE;
        if (b_type != types.in || !supported(types)) return CUBLAS_STATUS_NOT_SUPPORTED;
        switch (types.in) {
        case CUDA_R_64F:
            return same_type<double>(context, name, shape, alpha, a, b, beta, c);
        case CUDA_C_32F:
            return same_type<std::complex<float>>(context, name, shape, alpha, a, b, beta, c);
        case CUDA_C_64F:
            return same_type<std::complex<double>>(context, name, shape, alpha, a, b, beta, c);
        default:
            break;
        }
        if (shape.empty()) return CUBLAS_STATUS_SUCCESS;
        if (!shape.fits()) return too_large(name);
        const bool half =
            types.compute == CUBLAS_COMPUTE_16F || types.compute == CUBLAS_COMPUTE_16F_PEDANTIC;
        if (half)
            return run_product<__half>(
                context, name, shape, types, alpha, a, b, beta, c, product_in_float<__half>);
        return run_product<float>(
            context, name, shape, types, alpha, a, b, beta, c, product_in_float<float>);
    });
}

}  // namespace
}  // namespace blas

using namespace blas;

#define GEMM_EX(INT, S)                                                                            \
    STAND_IN_API cublasStatus_t cublasGemmEx##S(cublasHandle_t handle,                             \
                                                cublasOperation_t transa,                          \
                                                cublasOperation_t transb,                          \
                                                INT m,                                             \
                                                INT n,                                             \
                                                INT k,                                             \
                                                const void* alpha,                                 \
                                                const void* A,                                     \
                                                cudaDataType Atype,                                \
                                                INT lda,                                           \
                                                const void* B,                                     \
                                                cudaDataType Btype,                                \
                                                INT ldb,                                           \
                                                const void* beta,                                  \
                                                void* C,                                           \
                                                cudaDataType Ctype,                                \
                                                INT ldc,                                           \
                                                cublasComputeType_t computeType,                   \
                                                cublasGemmAlgo_t) {                                \
        const Shape<INT> shape{transa, transb, m, n, k, lda, ldb, ldc};                            \
        const Types types{Atype, Ctype, computeType};                                              \
        return do_gemm_ex("cublasGemmEx" #S, handle, shape, alpha, A, B, beta, C, Btype, types);   \
    }

#define GEMM_STRIDED_BATCHED_EX(INT, S)                                                            \
    STAND_IN_API cublasStatus_t cublasGemmStridedBatchedEx##S(cublasHandle_t handle,               \
                                                              cublasOperation_t transa,            \
                                                              cublasOperation_t transb,            \
                                                              INT m,                               \
                                                              INT n,                               \
                                                              INT k,                               \
                                                              const void* alpha,                   \
                                                              const void* A,                       \
                                                              cudaDataType Atype,                  \
                                                              INT lda,                             \
                                                              long long int strideA,               \
                                                              const void* B,                       \
                                                              cudaDataType Btype,                  \
                                                              INT ldb,                             \
                                                              long long int strideB,               \
                                                              const void* beta,                    \
                                                              void* C,                             \
                                                              cudaDataType Ctype,                  \
                                                              INT ldc,                             \
                                                              long long int strideC,               \
                                                              INT batchCount,                      \
                                                              cublasComputeType_t computeType,     \
                                                              cublasGemmAlgo_t) {                  \
        const Shape<INT> shape{                                                                    \
            transa, transb, m, n, k, lda, ldb, ldc, strideA, strideB, strideC, batchCount};        \
        const Types types{Atype, Ctype, computeType};                                              \
        const char* name = "cublasGemmStridedBatchedEx" #S;                                        \
        return do_gemm_ex(name, handle, shape, alpha, A, B, beta, C, Btype, types);                \
    }

GEMM_EX(int, )
GEMM_EX(int64_t, _64)
GEMM_STRIDED_BATCHED_EX(int, )
GEMM_STRIDED_BATCHED_EX(int64_t, _64)
