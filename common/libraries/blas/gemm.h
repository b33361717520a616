// SPDX-License-Identifier: MIT
// The matrix product C = alpha op(A) op(B) + beta C: its shape, its operands and its computation,
// for all functions of the gemm family.
#pragma once

#include "blas/calls.h"
#include "blas/handle.h"

namespace blas {

// A product with sizes that fit OpenBLAS's int.
struct Product {
    cublasOperation_t transa, transb;
    int m, n, k, lda, ldb, ldc;
    int64_t stride_a, stride_b, stride_c, batch;
};

template <class Int>
struct Shape {
    cublasOperation_t transa, transb;
    Int m, n, k, lda, ldb, ldc;
    int64_t stride_a = 0, stride_b = 0, stride_c = 0;
    Int batch = 1;

    bool plain_a() const { return transa == CUBLAS_OP_N; }
    bool plain_b() const { return transb == CUBLAS_OP_N; }
    bool valid() const {
        return is_operation(transa) && is_operation(transb) && m >= 0 && n >= 0 && k >= 0 &&
               batch >= 0 && lda >= std::max<Int>(1, plain_a() ? m : k) &&
               ldb >= std::max<Int>(1, plain_b() ? k : n) && ldc >= std::max<Int>(1, m);
    }
    bool empty() const { return m == 0 || n == 0 || batch == 0; }
    bool fits() const { return fit(m, n, k, lda, ldb, ldc); }
    Product product() const {
        return {transa,
                transb,
                int(m),
                int(n),
                int(k),
                int(lda),
                int(ldb),
                int(ldc),
                stride_a,
                stride_b,
                stride_c,
                int64_t(batch)};
    }

    // A, B, C, alpha and beta, in this order. `reads`: A and B are read, since alpha is not 0.
    template <class T>
    std::vector<Operand> operands(uint32_t bytes, const void* a, const void* b, void* c, bool reads,
                                  const Scalar<T>& alpha, const Scalar<T>& beta) const {
        return operands(bytes, bytes, a, b, c, reads, alpha, beta);
    }
    // The same when the elements of C have another size.
    template <class T>
    std::vector<Operand> operands(uint32_t in_bytes, uint32_t out_bytes, const void* a,
                                  const void* b, void* c, bool reads, const Scalar<T>& alpha,
                                  const Scalar<T>& beta) const {
        Operand in_a = matrix_of("A", a, in_bytes, plain_a() ? m : k, plain_a() ? k : m, lda);
        Operand in_b = matrix_of("B", b, in_bytes, plain_b() ? k : n, plain_b() ? n : k, ldb);
        Operand out = updated(matrix_of("C", c, out_bytes, m, n, ldc));
        in_a.reads = in_b.reads = reads;
        // A stride of 0 uses the same matrix for the whole batch.
        const auto repeat = [&](Operand& operand, int64_t stride, uint32_t bytes) {
            operand.slices = stride == 0 ? 1 : uint64_t(batch);
            operand.slice_pitch = uint64_t(stride) * bytes;
        };
        repeat(in_a, stride_a, in_bytes);
        repeat(in_b, stride_b, in_bytes);
        repeat(out, stride_c, out_bytes);
        out.reads_if = [beta](std::byte* const* at) { return beta.value(at[4]) != T(0); };
        return {in_a, in_b, out, alpha.operand("alpha"), beta.operand("beta")};
    }
};

template <class T>
void gemm(const Product& p, T alpha, const T* a, const T* b, T beta, T* c) {
    gemm(p.transa, p.transb, p.m, p.n, p.k, alpha, a, p.lda, b, p.ldb, beta, c, p.ldc);
}

// C = alpha op(A) op(B) + beta C for each matrix of the batch. The shape is valid.
template <class T, class Int>
cublasStatus_t run_gemm(cublasContext& context, const char* name, const Shape<Int>& shape,
                        const T* alpha, const T* a, const T* b, const T* beta, T* c) {
    if (shape.empty()) return CUBLAS_STATUS_SUCCESS;
    if (!shape.fits()) return too_large(name);
    const Scalar<T> factor(alpha, context.scalars_on_device());
    const Scalar<T> old(beta, context.scalars_on_device());
    const bool reads = !factor.is_certainly(T(0));
    const Product product = shape.product();
    return run(context,
               name,
               shape.operands(sizeof(T), a, b, c, reads, factor, old),
               [=](std::byte* const* at) {
                   for (int64_t i = 0; i < product.batch; ++i)
                       gemm(product,
                            factor.value(at[3]),
                            as<T>(at[0]) + i * product.stride_a,
                            as<T>(at[1]) + i * product.stride_b,
                            old.value(at[4]),
                            as<T>(at[2]) + i * product.stride_c);
               });
}

template <class T, class Int>
cublasStatus_t do_gemm(const char* name, cublasHandle_t handle, const Shape<Int>& shape,
                       const T* alpha, const T* a, const T* b, const T* beta, T* c) {
    return function(name, handle, [&](cublasContext& context) {
        if (!alpha || !beta || !shape.valid()) return CUBLAS_STATUS_INVALID_VALUE;
        return run_gemm(context, name, shape, alpha, a, b, beta, c);
    });
}

}  // namespace blas
