// SPDX-License-Identifier: MIT
// Errors that the program asks for, in the ways there are.
#include <cuda_runtime.h>

__global__ void kernel() {}

int main() {
    kernel<<<1, 32>>>();
    // twin: unchecked-error
    if (cudaGetLastError() != cudaSuccess) return 1;
    kernel<<<2, 64>>>();
    if (cudaPeekAtLastError() != cudaSuccess) return 1;
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    void* huge = nullptr;
    // twin: unchecked-error
    if (cudaMalloc(&huge, size_t(1) << 50) != cudaErrorMemoryAllocation) return 1;
    return cudaGetLastError() == cudaErrorMemoryAllocation ? 0 : 1;
}
