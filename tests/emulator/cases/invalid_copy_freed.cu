// SPDX-License-Identifier: MIT
// The array is gone before its values are fetched.
#include <cuda_runtime.h>

int main() {
    int host[16] = {};
    int* data;
    cudaMalloc(&data, sizeof host);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    cudaFree(data);
    cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);  // expect: invalid-copy
}
