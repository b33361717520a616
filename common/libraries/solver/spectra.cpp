// SPDX-License-Identifier: MIT
// cuSOLVER's singular value decomposition, and eigenvalues of symmetric and Hermitian matrices.
#include <cmath>
#include <type_traits>

#include "solver/handle.h"
#include "solver/lapack.h"

namespace solver {
namespace {

template <class T>
using Magnitude = decltype(std::abs(T()));

int eigen_work(int n) {
    return 1 + 6 * n + 2 * n * n;
}
int singular_work(int m, int n) {
    return std::max(1, 3 * std::min(m, n) + std::max(m, n)) + 5 * std::min(m, n);
}

std::string place(int row, int column) {
    return "A(" + std::to_string(row) + "," + std::to_string(column) + ")";
}

std::string text(double value) {
    return std::to_string(value);
}
std::string text(std::complex<double> value) {
    return std::to_string(value.real()) + " + " + std::to_string(value.imag()) + " i";
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
            if (unread == T(0) || is_unwritten(unread) || !std::isfinite(std::abs(unread))) return;
            const auto rounding = std::numeric_limits<decltype(std::abs(lower))>::epsilon() * 64;
            const auto scale = std::max(std::abs(lower), std::abs(upper));
            const T mirrored = stand_in::conjugate(upper);
            if (row == 0 && std::abs(lower - mirrored) > scale * rounding) row = i, column = j;
        }
    if (row == 0) return;
    const T lower = a[row + int64_t(column) * lda], upper = a[column + int64_t(row) * lda];
    emulatorLibraryMisuse(name,
                          "not-symmetric",
                          '`' + std::string(name) + "` is for " +
                              (std::is_floating_point_v<T> ? "symmetric" : "Hermitian") +
                              " matrices, and " + place(row, column) + " is " + text(lower) +
                              " but " + place(column, row) + " is " + text(upper) +
                              ": it reads only the " +
                              (fill == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper") + " triangle");
}

template <class T>
cusolverStatus_t run_syevd(const cusolverDnContext& context, const char* name,
                           cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda,
                           Magnitude<T>* values, Operand work, int* info) {
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
    Operand in = matrix_of("A", a, n, n, lda);
    in.part =
        fill == CUBLAS_FILL_MODE_LOWER ? Operand::Part::kFromDiagonal : Operand::Part::kToDiagonal;
    // With eigenvectors the whole matrix is written, without them only the triangle.
    Operand out = written(matrix_of("A", a, n, n, lda));
    if (!vectors) out.part = in.part;
    return run(context,
               name,
               {in,
                out,
                written(vector_of("W", values, n)),
                written(std::move(work)),
                written(vector_of("info", info, 1))},
               [=](std::byte* const* at) {
                   warn_if_not_symmetric(name, fill, n, as<T>(at[0]), lda);
                   store_info(at[4],
                              lapack::syevd(vectors ? 'V' : 'N',
                                            lapack::letter(fill),
                                            n,
                                            as<T>(at[0]),
                                            lda,
                                            as<Magnitude<T>>(at[2])));
               });
}

template <class T>
cusolverStatus_t do_syevd(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t mode,
                          cublasFillMode_t fill, int n, T* a, int lda, Magnitude<T>* values,
                          T* work, int lwork, int* info) {
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_matrix(n, n, lda) || !is_fill(fill) || !large_enough(name, lwork, eigen_work(n)))
            return CUSOLVER_STATUS_INVALID_VALUE;
        const Operand workspace = vector_of("work", work, lwork);
        return run_syevd(context, name, mode, fill, n, a, lda, values, workspace, info);
    });
}

template <class T>
cusolverStatus_t do_gesvd(const char* name, cusolverDnHandle_t handle, char u_job, char vt_job,
                          int m, int n, T* a, int lda, Magnitude<T>* s, T* u, int ldu, T* vt,
                          int ldvt, T* work, int lwork, Magnitude<T>* rwork, int* info) {
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
                       std::vector<Magnitude<T>> superdiagonal(size_t(std::max(1, n)));
                       T none{};
                       store_info(at[6],
                                  lapack::gesvd(u_job,
                                                vt_job,
                                                m,
                                                n,
                                                as<T>(at[0]),
                                                lda,
                                                as<Magnitude<T>>(at[1]),
                                                has_u ? as<T>(at[2]) : &none,
                                                std::max(1, ldu),
                                                has_vt ? as<T>(at[3]) : &none,
                                                std::max(1, ldvt),
                                                superdiagonal.data()));
                       if (at[5] && n > 1)
                           std::memcpy(
                               at[5], superdiagonal.data(), size_t(n - 1) * sizeof(Magnitude<T>));
                   });
    });
}

// The functions for all types, with sizes of 64 bits and workspaces in bytes. There are no options.
bool is_eigen_type(cudaDataType a, cudaDataType w, cudaDataType compute) {
    const bool single = (a == CUDA_R_32F || a == CUDA_C_32F) && w == CUDA_R_32F;
    const bool twice = (a == CUDA_R_64F || a == CUDA_C_64F) && w == CUDA_R_64F;
    return (single || twice) && compute == a;
}

template <class T>
cusolverStatus_t any_syevd(const cusolverDnContext& context, const char* name,
                           cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n, void* a,
                           int64_t lda, void* values, const Operand& work, int* info) {
    return run_syevd(context,
                     name,
                     mode,
                     fill,
                     int(n),
                     static_cast<T*>(a),
                     int(lda),
                     static_cast<Magnitude<T>*>(values),
                     work,
                     info);
}

}  // namespace
}  // namespace solver

using namespace solver;

#define SINGULAR(T, P)                                                                             \
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
                                                       Real<T>* S,                                 \
                                                       T* U,                                       \
                                                       int ldu,                                    \
                                                       T* VT,                                      \
                                                       int ldvt,                                   \
                                                       T* work,                                    \
                                                       int lwork,                                  \
                                                       Real<T>* rwork,                             \
                                                       int* info) {                                \
        return do_gesvd("cusolverDn" #P "gesvd",                                                   \
                        handle,                                                                    \
                        char(jobu),                                                                \
                        char(jobvt),                                                               \
                        m,                                                                         \
                        n,                                                                         \
                        num(A),                                                                    \
                        lda,                                                                       \
                        S,                                                                         \
                        num(U),                                                                    \
                        ldu,                                                                       \
                        num(VT),                                                                   \
                        ldvt,                                                                      \
                        num(work),                                                                 \
                        lwork,                                                                     \
                        rwork,                                                                     \
                        info);                                                                     \
    }

// EVD: syevd, or heevd for complex matrices.
#define EIGEN(T, P, EVD)                                                                           \
    STAND_IN_API cusolverStatus_t cusolverDn##P##EVD##_bufferSize(cusolverDnHandle_t handle,       \
                                                                  cusolverEigMode_t,               \
                                                                  cublasFillMode_t,                \
                                                                  int n,                           \
                                                                  const T*,                        \
                                                                  int lda,                         \
                                                                  const Real<T>*,                  \
                                                                  int* lwork) {                    \
        return size("cusolverDn" #P #EVD "_bufferSize",                                            \
                    handle,                                                                        \
                    n >= 0 && lda >= std::max(1, n),                                               \
                    eigen_work(n),                                                                 \
                    lwork);                                                                        \
    }                                                                                              \
    STAND_IN_API cusolverStatus_t cusolverDn##P##EVD(cusolverDnHandle_t handle,                    \
                                                     cusolverEigMode_t jobz,                       \
                                                     cublasFillMode_t uplo,                        \
                                                     int n,                                        \
                                                     T* A,                                         \
                                                     int lda,                                      \
                                                     Real<T>* W,                                   \
                                                     T* work,                                      \
                                                     int lwork,                                    \
                                                     int* info) {                                  \
        const char* name = "cusolverDn" #P #EVD;                                                   \
        return do_syevd(name, handle, jobz, uplo, n, num(A), lda, W, num(work), lwork, info);      \
    }

SINGULAR(float, S)
SINGULAR(double, D)
SINGULAR(cuComplex, C)
SINGULAR(cuDoubleComplex, Z)
EIGEN(float, S, syevd)
EIGEN(double, D, syevd)
EIGEN(cuComplex, C, heevd)
EIGEN(cuDoubleComplex, Z, heevd)

STAND_IN_API cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
    if (!params) return finish("cusolverDnCreateParams", CUSOLVER_STATUS_INVALID_VALUE);
    *params = new cusolverDnParams;
    return CUSOLVER_STATUS_SUCCESS;
}
STAND_IN_API cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
    if (!params) return finish("cusolverDnDestroyParams", CUSOLVER_STATUS_INVALID_VALUE);
    delete params;
    return CUSOLVER_STATUS_SUCCESS;
}

STAND_IN_API cusolverStatus_t cusolverDnXsyevd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t uplo,
    int64_t n, cudaDataType dataTypeA, const void*, int64_t lda, cudaDataType dataTypeW,
    const void*, cudaDataType computeType, size_t* workspaceInBytesOnDevice,
    size_t* workspaceInBytesOnHost) {
    return function("cusolverDnXsyevd_bufferSize", handle, [&](cusolverDnContext&) {
        if (!is_matrix(n, n, lda) || n > kMostRows || !is_fill(uplo) ||
            !is_eigen_type(dataTypeA, dataTypeW, computeType) || !workspaceInBytesOnDevice ||
            !workspaceInBytesOnHost)
            return CUSOLVER_STATUS_INVALID_VALUE;
        *workspaceInBytesOnDevice = size_t(eigen_work(int(n))) * bytes_of(dataTypeA);
        *workspaceInBytesOnHost = 0;
        return CUSOLVER_STATUS_SUCCESS;
    });
}
STAND_IN_API cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                               cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                               int64_t n, cudaDataType dataTypeA, void* A,
                                               int64_t lda, cudaDataType dataTypeW, void* W,
                                               cudaDataType computeType, void* bufferOnDevice,
                                               size_t workspaceInBytesOnDevice, void*, size_t,
                                               int* info) {
    const char* name = "cusolverDnXsyevd";
    return function(name, handle, [&](cusolverDnContext& context) {
        if (!is_matrix(n, n, lda) || n > kMostRows || !is_fill(uplo) ||
            !is_eigen_type(dataTypeA, dataTypeW, computeType) ||
            !large_enough(
                name, int(workspaceInBytesOnDevice / bytes_of(dataTypeA)), eigen_work(int(n))))
            return CUSOLVER_STATUS_INVALID_VALUE;
        const Operand work = vector_of("bufferOnDevice",
                                       static_cast<const char*>(bufferOnDevice),
                                       int64_t(workspaceInBytesOnDevice));
        const auto eigen = dataTypeA == CUDA_R_32F   ? any_syevd<float>
                           : dataTypeA == CUDA_R_64F ? any_syevd<double>
                           : dataTypeA == CUDA_C_32F ? any_syevd<std::complex<float>>
                                                     : any_syevd<std::complex<double>>;
        return eigen(context, name, jobz, uplo, n, A, lda, W, work, info);
    });
}
