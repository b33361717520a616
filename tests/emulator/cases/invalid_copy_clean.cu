// SPDX-License-Identifier: MIT
// Copies in every direction, to the last byte, of nothing, and in two dimensions.
#include <cuda_runtime.h>

__device__ int table[16];

int main() {
    int host[16] = {}, back[16] = {-1};
    int *a, *b;
    size_t pitch;
    void* rows;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMallocPitch(&rows, &pitch, 16, 4);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    // twin: invalid-copy
    cudaMemcpy(b + 8, a, 8 * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaMemcpy(b, a + 8, 8 * sizeof(int), cudaMemcpyDefault);
    // twin: invalid-copy
    cudaMemcpyToSymbol(table, host, sizeof host);
    cudaMemcpyFromSymbol(back, table, sizeof back);
    // twin: invalid-copy
    cudaMemcpy(a, host, 0, cudaMemcpyHostToDevice);
    // twin: invalid-copy
    cudaMemcpy2D(rows, pitch, host, 16, 16, 4, cudaMemcpyHostToDevice);
    cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(rows);
    return error != cudaSuccess || back[0] != 0;
}
