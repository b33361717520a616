// SPDX-License-Identifier: MIT
// CUDA_CHECK: turns a failed CUDA call into a C++ exception that names the call, file and line.
#pragma once

#include <cstdio>
#include <exception>

#include <cuda_runtime.h>

namespace wb {

// Holds its text itself: <string> and <stdexcept> would double the time that nvcc takes for a
// lesson.
class CudaError : public std::exception {
public:
    CudaError(cudaError_t error, const char* call, const char* file, int line) : code(error) {
        std::snprintf(text_,
                      sizeof text_,
                      "%s:%d: %s: %s, %s",
                      file,
                      line,
                      call,
                      cudaGetErrorName(error),
                      cudaGetErrorString(error));
    }
    const char* what() const noexcept override { return text_; }
    const cudaError_t code;

private:
    char text_[1024];
};

inline void cuda_check(cudaError_t error, const char* call, const char* file, int line) {
    if (error != cudaSuccess) throw CudaError(error, call, file, line);
}

}  // namespace wb

// Around every call that returns a cudaError_t, and after a launch as
// CUDA_CHECK(cudaGetLastError()).
#define CUDA_CHECK(call) ::wb::cuda_check((call), #call, __FILE__, __LINE__)
