// SPDX-License-Identifier: MIT
// The same array is freed twice.
#include <cuda_runtime.h>

int main() {
    float* data;
    cudaMalloc(&data, 1000);
    cudaFree(data);
    cudaFree(data);  // expect: double-free
}
