// SPDX-License-Identifier: MIT
// Singular value decompositions of a batch of matrices, by LAPACK: for cuSOLVER's functions that
// store V, which LAPACK returns as its conjugate transpose.
#pragma once

#include <cmath>

#include "solver/handle.h"
#include "solver/lapack.h"

namespace solver {

template <class T>
using Magnitude = decltype(std::abs(T()));

inline bool is_mode(cusolverEigMode_t mode) {
    return mode == CUSOLVER_EIG_MODE_NOVECTOR || mode == CUSOLVER_EIG_MODE_VECTOR;
}
inline int svd_work(int m, int n, int batch) {
    return std::max(1, (m + n) * std::max(1, batch));
}

// A batch of m x n matrices: how many columns of U and V are stored, and the elements from one
// matrix to the next.
struct Batch {
    bool vectors = false;
    int m, n, lda, ldu, ldv;
    int values, u_columns, v_columns;
    int64_t stride_a = 0, stride_s = 0, stride_u = 0, stride_v = 0;
    int count = 1;

    Operand repeated(Operand operand, int64_t stride, size_t element_bytes) const {
        operand.slices = uint64_t(count);
        operand.slice_pitch = uint64_t(stride) * element_bytes;
        return operand;
    }
    template <class T>
    Operand a(const T* data) const {
        return repeated(matrix_of("A", data, m, n, lda), stride_a, sizeof(T));
    }
    template <class T>
    Operand s(const T* data) const {
        return written(repeated(vector_of("S", data, values), stride_s, sizeof(T)));
    }
    template <class T>
    Operand u(const T* data) const {
        const int columns = vectors ? u_columns : 0;
        return written(repeated(matrix_of("U", data, m, columns, ldu), stride_u, sizeof(T)));
    }
    template <class T>
    Operand v(const T* data) const {
        const int columns = vectors ? v_columns : 0;
        return written(repeated(matrix_of("V", data, n, columns, ldv), stride_v, sizeof(T)));
    }
};

// Decomposes matrix `i`. `a` keeps its values. `residual`: where the norm of A - U S V^H goes.
template <class T>
int decompose(const Batch& b, int64_t i, const T* a, Magnitude<T>* s, T* u, T* v,
              double* residual = nullptr) {
    a += i * b.stride_a;
    const int m = b.m, n = b.n, rank = std::min(m, n);
    const int u_all = b.u_columns > rank ? m : rank, v_all = b.v_columns > rank ? n : rank;
    std::vector<T> copy(size_t(m) * size_t(n)), left, right;
    for (int j = 0; j < n; ++j) std::copy_n(a + int64_t(j) * b.lda, m, &copy[size_t(j) * m]);
    std::vector<Magnitude<T>> all(std::max(rank, 1)), superdiagonal(all.size());
    T none{};
    if (b.vectors) {
        left.resize(size_t(m) * u_all);
        right.resize(size_t(v_all) * n);
    }
    const int info = lapack::gesvd(!b.vectors     ? 'N'
                                   : u_all > rank ? 'A'
                                                  : 'S',
                                   !b.vectors     ? 'N'
                                   : v_all > rank ? 'A'
                                                  : 'S',
                                   m,
                                   n,
                                   copy.data(),
                                   m,
                                   all.data(),
                                   b.vectors ? left.data() : &none,
                                   m,
                                   b.vectors ? right.data() : &none,
                                   b.vectors ? v_all : 1,
                                   superdiagonal.data());
    std::copy_n(all.begin(), b.values, s + i * b.stride_s);
    if (!b.vectors) return info;
    for (int j = 0; j < b.u_columns; ++j)
        std::copy_n(&left[size_t(j) * m], m, u + i * b.stride_u + int64_t(j) * b.ldu);
    for (int j = 0; j < b.v_columns; ++j)
        for (int k = 0; k < n; ++k)
            v[i * b.stride_v + k + int64_t(j) * b.ldv] =
                stand_in::conjugate(right[size_t(j) + size_t(k) * v_all]);
    if (residual) {
        double squares = 0;
        for (int c = 0; c < n; ++c)
            for (int r = 0; r < m; ++r) {
                T rest = a[r + int64_t(c) * b.lda];
                for (int k = 0; k < b.values; ++k)
                    rest -= left[size_t(r) + size_t(k) * m] * all[size_t(k)] *
                            right[size_t(k) + size_t(c) * v_all];
                squares += double(std::norm(rest));
            }
        *residual = std::sqrt(squares);
    }
    return info;
}

// gesvdj destroys A, gesvda does not: `keeps`.
template <class T>
cusolverStatus_t run_svd(const cusolverDnContext& context, const char* name, const Batch& batch,
                         const T* a, bool keeps, Magnitude<T>* s, T* u, T* v, const T* work,
                         int lwork, int* info, double* residuals) {
    return run(
        context,
        name,
        {keeps ? batch.a(a) : updated(batch.a(a)),
         batch.s(s),
         batch.u(u),
         batch.v(v),
         written(vector_of("work", work, lwork)),
         written(vector_of("info", info, batch.count))},
        [=](std::byte* const* at) {
            for (int i = 0; i < batch.count; ++i)
                store_info(at[5] + size_t(i) * sizeof(int),
                           decompose(batch,
                                     i,
                                     as<T>(at[0]),
                                     as<Magnitude<T>>(at[1]),
                                     as<T>(at[2]),
                                     as<T>(at[3]),
                                     residuals ? residuals + i : nullptr));
        },
        residuals != nullptr);
}

}  // namespace solver
