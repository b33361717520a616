// SPDX-License-Identifier: MIT
// The result pointer was never allocated.
#include <cuda_runtime.h>

__global__ void fill(const int* seed, float* result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: invalid-address "`result`, argument 2, is a null pointer"
    if (i < n) result[i] = float(*seed);
}

int main() {
    int* seed;
    float* result = nullptr;
    cudaMalloc(&seed, sizeof(int));
    cudaMemset(seed, 0, sizeof(int));
    fill<<<1, 128>>>(seed, result, 100);
    cudaDeviceSynchronize();
    cudaFree(seed);
}
