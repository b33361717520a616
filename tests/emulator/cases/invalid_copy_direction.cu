// SPDX-License-Identifier: MIT
// Source and destination do not fit the direction that is given.
#include <cuda_runtime.h>

int main() {
    int host[16] = {};
    int* data;
    cudaMalloc(&data, sizeof host);
    cudaMemset(data, 0, sizeof host);
    cudaMemcpy(host, data, sizeof host, cudaMemcpyHostToDevice);  // expect: invalid-copy
    cudaMemcpy(data, host, sizeof host, cudaMemcpyDeviceToHost);  // expect: invalid-copy
    cudaFree(data);
}
