// SPDX-License-Identifier: MIT
// cudaDeviceReset gives everything back.
#include <cuda_runtime.h>

int main() {
    float *a, *b;
    cudaMalloc(&a, 1000);
    cudaMalloc(&b, 1000);
    return cudaDeviceReset() != cudaSuccess;
}
