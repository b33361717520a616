// SPDX-License-Identifier: MIT
// The first thread has no left neighbour.
#include <cuda_runtime.h>

__global__ void difference(const int* values, int* result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int left = values[i - 1];  // expect: out-of-bounds-global "`values[-1]` is read"
    result[i] = values[i] - left;
}

int main() {
    const int n = 300;
    int *values, *result;
    cudaMalloc(&values, n * sizeof(int));
    cudaMalloc(&result, n * sizeof(int));
    cudaMemset(values, 1, n * sizeof(int));
    difference<<<2, 256>>>(values, result, n);
    cudaDeviceSynchronize();
    cudaFree(values);
    cudaFree(result);
}
