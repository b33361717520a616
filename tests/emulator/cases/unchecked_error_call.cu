// SPDX-License-Identifier: MIT
// Errors of calls whose results the program drops.
// also: -Xcompiler -O2
#include <cstdio>
#include <cuda_runtime.h>

int main() {
    int* data;
    cudaMalloc(&data, size_t(1) << 60);  // expect: warning unchecked-error "`cudaMalloc` failed"
    cudaSetDevice(7);                    // expect: unchecked-error "cudaErrorInvalidDevice"
    (void)cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(&data));  // expect: unchecked-error
    cudaEvent_t event;
    cudaEventCreate(&event);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, event, event);  // expect: unchecked-error
    std::printf("%g\n", milliseconds);
    cudaEventDestroy(event);
}
