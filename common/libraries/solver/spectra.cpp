// SPDX-License-Identifier: MIT
// cuSOLVER's singular value decomposition and eigenvalues of symmetric matrices.
#include <cmath>

#include "solver/handle.h"
#include "solver/lapack.h"

namespace solver {
namespace {

int eigen_work(int n) {
    return 1 + 6 * n + 2 * n * n;
}
int singular_work(int m, int n) {
    return std::max(1, 3 * std::min(m, n) + std::max(m, n)) + 5 * std::min(m, n);
}

std::string place(int row, int column) {
    return "A(" + std::to_string(row) + "," + std::to_string(column) + ")";
}

// Whether a value is the emulated device's pattern for memory that the program has not written.
template <class T>
bool is_unwritten(T value) {
    unsigned char bytes[sizeof(T)], pattern[sizeof(T)];
    std::memcpy(bytes, &value, sizeof bytes);
    std::memset(pattern, 0xCD, sizeof pattern);
    return std::memcmp(bytes, pattern, sizeof bytes) == 0;
}

// syevd reads only one triangle. If the other one contains different values, the matrix is not
// symmetric, and the program needs another function. No warning if the other triangle is partly
// empty: it may be unused on purpose.
template <class T>
void warn_if_not_symmetric(const char* name, cublasFillMode_t fill, int n, const T* a, int lda) {
    int row = 0, column = 0;  // of the first element that differs, in the lower triangle
    for (int j = 0; j < n; ++j)
        for (int i = j + 1; i < n; ++i) {
            const T lower = a[i + int64_t(j) * lda], upper = a[j + int64_t(i) * lda];
            const T unread = fill == CUBLAS_FILL_MODE_LOWER ? upper : lower;
            if (unread == 0 || is_unwritten(unread) || !std::isfinite(unread)) return;
            constexpr T kRounding = std::numeric_limits<T>::epsilon() * 64;
            const T scale = std::max(std::fabs(lower), std::fabs(upper));
            if (row == 0 && std::fabs(lower - upper) > scale * kRounding) row = i, column = j;
        }
    if (row == 0) return;
    const T lower = a[row + int64_t(column) * lda], upper = a[column + int64_t(row) * lda];
    emulatorLibraryMisuse(name,
                          "not-symmetric",
                          '`' + std::string(name) + "` is for symmetric matrices, and " +
                              place(row, column) + " is " + std::to_string(lower) + " but " +
                              place(column, row) + " is " + std::to_string(upper) +
                              ": it reads only the " +
                              (fill == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper") + " triangle");
}

template <class T>
cusolverStatus_t do_syevd(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t mode,
                          cublasFillMode_t fill, int n, T* a, int lda, T* values, T* work,
                          int lwork, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (n < 0 || lda < std::max(1, n) || !large_enough(name, lwork, eigen_work(n)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
        Operand in = matrix_of("A", a, n, n, lda);
        in.part = fill == CUBLAS_FILL_MODE_LOWER ? Operand::Part::kFromDiagonal
                                                 : Operand::Part::kToDiagonal;
        // With eigenvectors the whole matrix is written, without them only the triangle.
        Operand out = written(matrix_of("A", a, n, n, lda));
        if (!vectors) out.part = in.part;
        return run(context,
                   name,
                   {in,
                    out,
                    written(vector_of("W", values, n)),
                    written(vector_of("work", work, lwork)),
                    written(vector_of("info", info, 1))},
                   [=](std::byte* const* at) {
                       warn_if_not_symmetric(name, fill, n, as<T>(at[0]), lda);
                       store_info(at[4],
                                  lapack::syevd(vectors ? 'V' : 'N',
                                                lapack::letter(fill),
                                                n,
                                                as<T>(at[0]),
                                                lda,
                                                as<T>(at[2])));
                   });
    });
}

template <class T>
cusolverStatus_t do_gesvd(const char* name, cusolverDnHandle_t handle, char u_job, char vt_job,
                          int m, int n, T* a, int lda, T* s, T* u, int ldu, T* vt, int ldvt,
                          T* work, int lwork, T* rwork, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        const auto known = [](char job) {
            return job == 'A' || job == 'S' || job == 'O' || job == 'N';
        };
        // As cuSOLVER: for m < n, transpose ("cusolverDn<t>gesvd()", remark 1).
        if (m < n || n < 0 || lda < std::max(1, m) || !known(u_job) || !known(vt_job) ||
            (u_job == 'O' && vt_job == 'O') || !large_enough(name, lwork, singular_work(m, n)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        const bool has_u = u_job == 'A' || u_job == 'S', has_vt = vt_job == 'A' || vt_job == 'S';
        if ((has_u && ldu < std::max(1, m)) || (has_vt && ldvt < std::max(1, n)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        const int u_columns = !has_u ? 0 : u_job == 'A' ? m : n;
        return run(context,
                   name,
                   {updated(matrix_of("A", a, m, n, lda)),
                    written(vector_of("S", s, n)),
                    written(matrix_of("U", u, m, u_columns, ldu)),
                    written(matrix_of("VT", vt, n, has_vt ? n : 0, ldvt)),
                    written(vector_of("work", work, lwork)),
                    written(vector_of("rwork", rwork, rwork ? n - 1 : 0)),
                    written(vector_of("info", info, 1))},
                   [=](std::byte* const* at) {
                       std::vector<T> superdiagonal(size_t(std::max(1, n)));
                       T none{};
                       store_info(at[6],
                                  lapack::gesvd(u_job,
                                                vt_job,
                                                m,
                                                n,
                                                as<T>(at[0]),
                                                lda,
                                                as<T>(at[1]),
                                                has_u ? as<T>(at[2]) : &none,
                                                std::max(1, ldu),
                                                has_vt ? as<T>(at[3]) : &none,
                                                std::max(1, ldvt),
                                                superdiagonal.data()));
                       if (at[5] && n > 1)
                           std::memcpy(at[5], superdiagonal.data(), size_t(n - 1) * sizeof(T));
                   });
    });
}

cusolverStatus_t size(const char* name, cusolverDnHandle_t handle, bool valid, int elements,
                      int* to) {
    return function(name, handle, [&](cusolverDnContext&) {
        if (!valid || !to) return CUSOLVER_STATUS_INVALID_VALUE;
        *to = elements;
        return CUSOLVER_STATUS_SUCCESS;
    });
}

}  // namespace
}  // namespace solver

using namespace solver;

#define SPECTRA(T, P)                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##gesvd_bufferSize(                                 \
        cusolverDnHandle_t handle, int m, int n, int* lwork) {                                     \
        return size("cusolverDn" #P "gesvd_bufferSize",                                            \
                    handle,                                                                        \
                    m >= n && n >= 0,                                                              \
                    singular_work(m, n),                                                           \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##gesvd(cusolverDnHandle_t handle,                  \
                                                       signed char jobu,                           \
                                                       signed char jobvt,                          \
                                                       int m,                                      \
                                                       int n,                                      \
                                                       T* A,                                       \
                                                       int lda,                                    \
                                                       T* S,                                       \
                                                       T* U,                                       \
                                                       int ldu,                                    \
                                                       T* VT,                                      \
                                                       int ldvt,                                   \
                                                       T* work,                                    \
                                                       int lwork,                                  \
                                                       T* rwork,                                   \
                                                       int* info) {                                \
        return do_gesvd("cusolverDn" #P "gesvd",                                                   \
                        handle,                                                                    \
                        char(jobu),                                                                \
                        char(jobvt),                                                               \
                        m,                                                                         \
                        n,                                                                         \
                        A,                                                                         \
                        lda,                                                                       \
                        S,                                                                         \
                        U,                                                                         \
                        ldu,                                                                       \
                        VT,                                                                        \
                        ldvt,                                                                      \
                        work,                                                                      \
                        lwork,                                                                     \
                        rwork,                                                                     \
                        info);                                                                     \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##syevd_bufferSize(cusolverDnHandle_t handle,       \
                                                                  cusolverEigMode_t,               \
                                                                  cublasFillMode_t,                \
                                                                  int n,                           \
                                                                  const T*,                        \
                                                                  int lda,                         \
                                                                  const T*,                        \
                                                                  int* lwork) {                    \
        return size("cusolverDn" #P "syevd_bufferSize",                                            \
                    handle,                                                                        \
                    n >= 0 && lda >= std::max(1, n),                                               \
                    eigen_work(n),                                                                 \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##syevd(cusolverDnHandle_t handle,                  \
                                                       cusolverEigMode_t jobz,                     \
                                                       cublasFillMode_t uplo,                      \
                                                       int n,                                      \
                                                       T* A,                                       \
                                                       int lda,                                    \
                                                       T* W,                                       \
                                                       T* work,                                    \
                                                       int lwork,                                  \
                                                       int* info) {                                \
        const char* name = "cusolverDn" #P "syevd";                                                \
        return do_syevd(name, handle, jobz, uplo, n, A, lda, W, work, lwork, info);                \
    }

SPECTRA(float, S)
SPECTRA(double, D)
