// SPDX-License-Identifier: MIT
// Handles of the stand-in for cuSOLVER.
#include "solver/handle.h"

namespace solver {

stand_in::Handles<cusolverDnContext>& handles() {
    static auto& instance = *new stand_in::Handles<cusolverDnContext>;
    return instance;
}

namespace {

const char* status_name(cusolverStatus_t status) {
    switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
        return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED:
        return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE:
        return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
        return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case CUSOLVER_STATUS_NOT_SUPPORTED:
        return "CUSOLVER_STATUS_NOT_SUPPORTED";
    default:
        return "an error of cuSOLVER";
    }
}

}  // namespace

cusolverStatus_t finish(const char* name, cusolverStatus_t status) {
    if (status != CUSOLVER_STATUS_SUCCESS) emulatorLibraryFailed(name, status_name(status));
    return status;
}

cusolverStatus_t run(const cusolverDnContext& context, const char* name,
                     std::vector<Operand> operands,
                     std::function<void(std::byte* const* at)> compute, bool waits) {
    const cudaError_t error = emulatorRunLibraryKernel(
        {name, context.stream, std::move(operands), std::move(compute), waits});
    return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

bool large_enough(const char* name, int given, int wanted) {
    if (given >= wanted) return true;
    emulatorLibraryMisuse(name,
                          "workspace",
                          '`' + std::string(name) + "` gets a workspace of " +
                              std::to_string(given) + " elements, but `" + name +
                              "_bufferSize` returns " + std::to_string(wanted));
    return false;
}

cusolverStatus_t size(const char* name, cusolverDnHandle_t handle, bool valid, int elements,
                      int* to) {
    return function(name, handle, [&](cusolverDnContext&) {
        if (!valid || !to) return CUSOLVER_STATUS_INVALID_VALUE;
        *to = elements;
        return CUSOLVER_STATUS_SUCCESS;
    });
}

Operand triangle(const char* name, const void* a, uint64_t bytes, int n, int lda,
                 cublasFillMode_t fill) {
    Operand operand = matrix_of(name, a, bytes, n, n, lda);
    operand.part =
        fill == CUBLAS_FILL_MODE_LOWER ? Operand::Part::kFromDiagonal : Operand::Part::kToDiagonal;
    return operand;
}

}  // namespace solver

using namespace solver;

STAND_IN_API cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
    if (!handle) return finish("cusolverDnCreate", CUSOLVER_STATUS_INVALID_VALUE);
    stand_in::note_creation("cusolverDnCreate", "handle");
    if (cudaFree(nullptr) != cudaSuccess)
        return finish("cusolverDnCreate", CUSOLVER_STATUS_NOT_INITIALIZED);
    *handle = handles().add(new cusolverDnContext);
    return CUSOLVER_STATUS_SUCCESS;
}
STAND_IN_API cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
    if (!handles().remove(handle))
        return finish("cusolverDnDestroy", CUSOLVER_STATUS_NOT_INITIALIZED);
    delete handle;
    return CUSOLVER_STATUS_SUCCESS;
}
STAND_IN_API cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
    return function("cusolverDnSetStream", handle, [&](cusolverDnContext& context) {
        context.stream = stream;
        return CUSOLVER_STATUS_SUCCESS;
    });
}
STAND_IN_API cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
    return function("cusolverDnGetStream", handle, [&](cusolverDnContext& context) {
        if (!stream) return CUSOLVER_STATUS_INVALID_VALUE;
        *stream = context.stream;
        return CUSOLVER_STATUS_SUCCESS;
    });
}
STAND_IN_API cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
    if (!value) return finish("cusolverGetProperty", CUSOLVER_STATUS_INVALID_VALUE);
    switch (type) {  // of the version whose functions the stand-in has: CUDA 13.0's
    case MAJOR_VERSION:
        *value = 12;
        return CUSOLVER_STATUS_SUCCESS;
    case MINOR_VERSION:
    case PATCH_LEVEL:
        *value = 0;
        return CUSOLVER_STATUS_SUCCESS;
    }
    return finish("cusolverGetProperty", CUSOLVER_STATUS_INVALID_VALUE);
}
STAND_IN_API cusolverStatus_t cusolverGetVersion(int* version) {
    if (!version) return finish("cusolverGetVersion", CUSOLVER_STATUS_INVALID_VALUE);
    *version = 12000;
    return CUSOLVER_STATUS_SUCCESS;
}
