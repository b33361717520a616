// SPDX-License-Identifier: MIT
// CUDA_CHECK: turns a failed CUDA call into a C++ exception that names the call, file and line.
#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

namespace wb {

class CudaError : public std::runtime_error {
public:
    CudaError(cudaError_t error, const char* call, const char* file, int line)
        : std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                             cudaGetErrorName(error) + ", " + cudaGetErrorString(error)),
          code(error) {}
    const cudaError_t code;
};

inline void cuda_check(cudaError_t error, const char* call, const char* file, int line) {
    if (error != cudaSuccess) throw CudaError(error, call, file, line);
}

}  // namespace wb

// Around every call that returns a cudaError_t, and after a launch as
// CUDA_CHECK(cudaGetLastError()).
#define CUDA_CHECK(call) ::wb::cuda_check((call), #call, __FILE__, __LINE__)
