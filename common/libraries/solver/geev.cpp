// SPDX-License-Identifier: MIT
// cuSOLVER's eigenvalues of matrices that are not symmetric: one function for all types, with sizes
// of 64 bits and workspaces in bytes, on the device and on the host.
#include "solver/handle.h"
#include "solver/lapack.h"

namespace solver {
namespace {

size_t work_bytes(int64_t n, cudaDataType type) {
    return size_t(std::max<int64_t>(1, 4 * n)) * bytes_of(type);
}

// What all arguments but the pointers say.
struct Problem {
    cusolverEigMode_t left, right;
    int64_t n, lda, ldvl, ldvr;
    cudaDataType a, w, vl, vr, compute;

    bool has_vectors() const { return right == CUSOLVER_EIG_MODE_VECTOR; }
    bool is_real() const { return a == CUDA_R_32F || a == CUDA_R_64F; }
    // The eigenvalues of a real matrix are complex numbers, or 2n real ones: the real parts first.
    bool has_parts() const { return is_real() && w == a; }

    bool is_valid() const {
        const bool known_modes =
            (left == CUSOLVER_EIG_MODE_NOVECTOR || left == CUSOLVER_EIG_MODE_VECTOR) &&
            (right == CUSOLVER_EIG_MODE_NOVECTOR || has_vectors());
        const bool same =
            (a == CUDA_R_32F || a == CUDA_R_64F || a == CUDA_C_32F || a == CUDA_C_64F) && vl == a &&
            vr == a && compute == a;
        const bool mixed =
            (a == CUDA_R_32F && w == CUDA_C_32F) || (a == CUDA_R_64F && w == CUDA_C_64F);
        return known_modes && same && (w == a || mixed) && is_matrix(n, n, lda) && n <= kMostRows &&
               ldvl >= 1 && ldvr >= (has_vectors() ? std::max<int64_t>(1, n) : 1);
    }
};

template <class T>
struct Eigen {
    // Stores a complex matrix's eigenvalues.
    static int run(const Problem& p, char job, T* a, std::byte* values, T* vectors) {
        return lapack::geev(job, int(p.n), a, int(p.lda), as<T>(values), vectors, int(p.ldvr));
    }
};
template <class T>
requires std::is_floating_point_v<T>
struct Eigen<T> {
    static int run(const Problem& p, char job, T* a, std::byte* values, T* vectors) {
        std::vector<T> real(size_t(p.n)), imaginary(size_t(p.n));
        const int info = lapack::geev(
            job, int(p.n), a, int(p.lda), real.data(), imaginary.data(), vectors, int(p.ldvr));
        for (size_t i = 0; i < real.size(); ++i) {
            as<T>(values)[p.has_parts() ? i : 2 * i] = real[i];
            as<T>(values)[p.has_parts() ? real.size() + i : 2 * i + 1] = imaginary[i];
        }
        return info;
    }
};

template <class T>
cusolverStatus_t run_geev(const cusolverDnContext& context, const char* name, const Problem& p,
                          void* a, void* values, void* vectors, Operand work, int* info) {
    const auto* const w = static_cast<const char*>(values);
    const int64_t value_bytes = p.n * int64_t(bytes_of(p.w)) * (p.has_parts() ? 2 : 1);
    return run(
        context,
        name,
        {updated(matrix_of("A", static_cast<T*>(a), p.n, p.n, p.lda)),
         written(vector_of("W", w, value_bytes)),
         written(matrix_of("VR", static_cast<T*>(vectors), p.n, p.has_vectors() ? p.n : 0, p.ldvr)),
         written(std::move(work)),
         written(vector_of("info", info, 1))},
        [=](std::byte* const* at) {
            T none{};
            T* const to = p.has_vectors() ? as<T>(at[2]) : &none;
            const char job = p.has_vectors() ? 'V' : 'N';
            store_info(at[4], Eigen<T>::run(p, job, as<T>(at[0]), at[1], to));
        });
}

}  // namespace
}  // namespace solver

using namespace solver;

STAND_IN_API cusolverStatus_t cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobvl, cusolverEigMode_t jobvr,
    int64_t n, cudaDataType dataTypeA, const void*, int64_t lda, cudaDataType dataTypeW,
    const void*, cudaDataType dataTypeVL, const void*, int64_t ldvl, cudaDataType dataTypeVR,
    const void*, int64_t ldvr, cudaDataType computeType, size_t* workspaceInBytesOnDevice,
    size_t* workspaceInBytesOnHost) {
    return function("cusolverDnXgeev_bufferSize", handle, [&](cusolverDnContext&) {
        const Problem problem{jobvl,
                              jobvr,
                              n,
                              lda,
                              ldvl,
                              ldvr,
                              dataTypeA,
                              dataTypeW,
                              dataTypeVL,
                              dataTypeVR,
                              computeType};
        if (!problem.is_valid() || !workspaceInBytesOnDevice || !workspaceInBytesOnHost)
            return CUSOLVER_STATUS_INVALID_VALUE;
        *workspaceInBytesOnDevice = *workspaceInBytesOnHost = work_bytes(n, dataTypeA);
        return CUSOLVER_STATUS_SUCCESS;
    });
}

STAND_IN_API cusolverStatus_t cusolverDnXgeev(
    cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobvl, cusolverEigMode_t jobvr,
    int64_t n, cudaDataType dataTypeA, void* A, int64_t lda, cudaDataType dataTypeW, void* W,
    cudaDataType dataTypeVL, void*, int64_t ldvl, cudaDataType dataTypeVR, void* VR, int64_t ldvr,
    cudaDataType computeType, void* bufferOnDevice, size_t workspaceInBytesOnDevice,
    void* bufferOnHost, size_t workspaceInBytesOnHost, int* info) {
    const char* name = "cusolverDnXgeev";
    return function(name, handle, [&](cusolverDnContext& context) {
        const Problem problem{jobvl,
                              jobvr,
                              n,
                              lda,
                              ldvl,
                              ldvr,
                              dataTypeA,
                              dataTypeW,
                              dataTypeVL,
                              dataTypeVR,
                              computeType};
        if (!problem.is_valid()) return CUSOLVER_STATUS_INVALID_VALUE;
        // cuSOLVER computes right eigenvectors only ("cusolverDnXgeev()", jobvl).
        if (jobvl != CUSOLVER_EIG_MODE_NOVECTOR) return CUSOLVER_STATUS_INVALID_VALUE;
        const size_t bytes = work_bytes(n, dataTypeA), element = bytes_of(dataTypeA);
        if (!large_enough(name, int(workspaceInBytesOnDevice / element), int(bytes / element)) ||
            !large_enough(name, int(workspaceInBytesOnHost / element), int(bytes / element)) ||
            !bufferOnHost)
            return CUSOLVER_STATUS_INVALID_VALUE;
        const Operand work =
            vector_of("bufferOnDevice", static_cast<const char*>(bufferOnDevice), int64_t(bytes));
        const auto eigen = dataTypeA == CUDA_R_32F   ? run_geev<float>
                           : dataTypeA == CUDA_R_64F ? run_geev<double>
                           : dataTypeA == CUDA_C_32F ? run_geev<std::complex<float>>
                                                     : run_geev<std::complex<double>>;
        return eigen(context, name, problem, A, W, VR, work, info);
    });
}
