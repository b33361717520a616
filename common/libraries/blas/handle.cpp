// SPDX-License-Identifier: MIT
// Handles of the stand-in for cuBLAS: creation, destruction, settings and queries.
#include "blas/handle.h"

#include <cblas.h>

namespace blas {

stand_in::Handles<cublasContext>& handles() {
    static auto& instance = *new stand_in::Handles<cublasContext>;
    return instance;
}

const char* status_name(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
        return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
        return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
        return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
        return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "an unknown status";
}

cublasStatus_t finish(const char* name, cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) emulatorLibraryFailed(name, status_name(status));
    return status;
}

cublasStatus_t run(const cublasContext& context, const char* name, std::vector<Operand> operands,
                   Compute compute, bool waits) {
    const cudaError_t error = emulatorRunLibraryKernel(
        {name, context.stream, std::move(operands), std::move(compute), waits});
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

namespace {

template <class T, class Member>
cublasStatus_t get(const char* name, cublasHandle_t handle, T* to, Member cublasContext::*member) {
    return function(name, handle, [&](cublasContext& context) {
        if (!to) return CUBLAS_STATUS_INVALID_VALUE;
        *to = context.*member;
        return CUBLAS_STATUS_SUCCESS;
    });
}

}  // namespace
}  // namespace blas

using namespace blas;

STAND_IN_API cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    if (!handle) return finish("cublasCreate", CUBLAS_STATUS_INVALID_VALUE);
    // Results depend on the order of additions, which is always the same with one thread.
    openblas_set_num_threads(1);
    stand_in::note_creation("cublasCreate", "handle");
    if (cudaFree(nullptr) != cudaSuccess)
        return finish("cublasCreate", CUBLAS_STATUS_NOT_INITIALIZED);
    *handle = handles().add(new cublasContext);
    return CUBLAS_STATUS_SUCCESS;
}

STAND_IN_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (!handles().remove(handle)) return finish("cublasDestroy", CUBLAS_STATUS_NOT_INITIALIZED);
    delete handle;
    // As on a card: destroying a handle waits for the device (cuBLAS, "cublasDestroy()").
    return cudaDeviceSynchronize() == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : finish("cublasDestroy", CUBLAS_STATUS_EXECUTION_FAILED);
}

STAND_IN_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version) {
    return function("cublasGetVersion", handle, [&](cublasContext&) {
        if (!version) return CUBLAS_STATUS_INVALID_VALUE;
        *version = 130000;
        return CUBLAS_STATUS_SUCCESS;
    });
}

STAND_IN_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    return function("cublasSetStream", handle, [&](cublasContext& context) {
        context.stream = stream;
        return CUBLAS_STATUS_SUCCESS;
    });
}
STAND_IN_API cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
    return get("cublasGetStream", handle, stream, &cublasContext::stream);
}

// The stand-in needs no workspace, but checks the one that the program passes.
STAND_IN_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace,
                                                  size_t bytes) {
    return function("cublasSetWorkspace", handle, [&](cublasContext&) {
        constexpr size_t kAlignment = 256;
        if (workspace && (!bytes || reinterpret_cast<uint64_t>(workspace) % kAlignment))
            return CUBLAS_STATUS_INVALID_VALUE;
        return CUBLAS_STATUS_SUCCESS;
    });
}

STAND_IN_API cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                                    cublasPointerMode_t mode) {
    return function("cublasSetPointerMode", handle, [&](cublasContext& context) {
        if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE)
            return CUBLAS_STATUS_INVALID_VALUE;
        context.pointer_mode = mode;
        return CUBLAS_STATUS_SUCCESS;
    });
}
STAND_IN_API cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle,
                                                    cublasPointerMode_t* mode) {
    return get("cublasGetPointerMode", handle, mode, &cublasContext::pointer_mode);
}

STAND_IN_API cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
    return function("cublasSetAtomicsMode", handle, [&](cublasContext& context) {
        context.atomics = mode;
        return CUBLAS_STATUS_SUCCESS;
    });
}
STAND_IN_API cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
    return get("cublasGetAtomicsMode", handle, mode, &cublasContext::atomics);
}

STAND_IN_API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    return function("cublasSetMathMode", handle, [&](cublasContext& context) {
        context.math = mode;
        return CUBLAS_STATUS_SUCCESS;
    });
}
STAND_IN_API cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
    return get("cublasGetMathMode", handle, mode, &cublasContext::math);
}

STAND_IN_API const char* cublasGetStatusName(cublasStatus_t status) {
    return status_name(status);
}
STAND_IN_API const char* cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "the handle was not created, or was destroyed";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "an allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "an argument has a value that is not allowed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "the work failed on the device";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "this is not supported";
    default:
        return status_name(status);
    }
}
