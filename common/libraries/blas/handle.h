// SPDX-License-Identifier: MIT
// cuBLAS's handle, and the frame of its functions.
#pragma once

#include <algorithm>
#include <new>
#include <vector>

#include "cublas_v2.h"
#include "stand_in.h"

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    bool scalars_on_device() const { return pointer_mode == CUBLAS_POINTER_MODE_DEVICE; }
};

namespace blas {

using stand_in::matrix_of;
using stand_in::num;
using stand_in::Number;
using stand_in::Operand;
using stand_in::Scalar;
using stand_in::updated;
using stand_in::vector_of;
using stand_in::written;

stand_in::Handles<cublasContext>& handles();
const char* status_name(cublasStatus_t status);

// Ends a public function: a failing status that the program ignores is a finding.
cublasStatus_t finish(const char* name, cublasStatus_t status);

// The frame of an API function. `name`: as programs write it, without _v2.
template <class F>
cublasStatus_t function(const char* name, cublasHandle_t handle, F&& body) {
    if (!handles().has(handle)) return finish(name, CUBLAS_STATUS_NOT_INITIALIZED);
    try {
        return finish(name, body(*handle));
    } catch (const std::bad_alloc&) {
        return finish(name, CUBLAS_STATUS_ALLOC_FAILED);
    }
}

using Compute = std::function<void(std::byte* const* at)>;
// Runs a kernel in the handle's stream. `waits`: it returns a result to the host.
cublasStatus_t run(const cublasContext& context, const char* name, std::vector<Operand> operands,
                   Compute compute, bool waits = false);

template <class T>
T* as(std::byte* at) {
    return reinterpret_cast<T*>(at);
}

inline bool is_operation(cublasOperation_t op) {
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}
inline bool is_fill(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER;
}
// Whether the sizes fit OpenBLAS's int.
template <class... Ints>
bool fit(Ints... sizes) {
    return ((int64_t(sizes) <= std::numeric_limits<int>::max() &&
             int64_t(sizes) >= std::numeric_limits<int>::min()) &&
            ...);
}
inline cublasStatus_t too_large(const char* name) {
    emulatorLibraryLacks((std::string(name) + " with sizes of 2^31 and more").c_str());
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace blas
