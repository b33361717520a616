// SPDX-License-Identifier: MIT
// Names and texts of error codes, and the calls that return the last error.
#include "runtime/core/errors.h"

#include "runtime/core/api.h"

namespace runtime {

const char* error_name(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return "cudaSuccess";
#define ERROR(code, text)                                                                          \
    case cudaError##code:                                                                          \
        return "cudaError" #code;
#include "runtime/core/errors.def"
#undef ERROR
    }
    return "unrecognized error code";
}

const char* error_text(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return "no error";
#define ERROR(code, text)                                                                          \
    case cudaError##code:                                                                          \
        return text;
#include "runtime/core/errors.def"
#undef ERROR
    }
    return "unrecognized error code";
}

}  // namespace runtime

using namespace runtime;

EMULATOR_API const char* cudaGetErrorName(cudaError_t error) {
    if (error != cudaSuccess) context().errors_seen();
    return error_name(error);
}
EMULATOR_API const char* cudaGetErrorString(cudaError_t error) {
    if (error != cudaSuccess) context().errors_seen();
    return error_text(error);
}

// A fault stays until cudaDeviceReset; any other error is returned once.
static cudaError_t last_error(const char* name, bool clear) {
    Call call(name, kIgnoresFault);
    call.global.errors_seen();
    if (call.device().fault != cudaSuccess) return call.device().fault;
    const cudaError_t error = call.thread.last_error;
    if (clear) call.thread.last_error = cudaSuccess;
    return error;
}

EMULATOR_API cudaError_t cudaGetLastError(void) {
    return last_error("cudaGetLastError", true);
}
EMULATOR_API cudaError_t cudaPeekAtLastError(void) {
    return last_error("cudaPeekAtLastError", false);
}
