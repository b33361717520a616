// SPDX-License-Identifier: MIT
// The barrier stands inside `if (i < n)`; the last block is not full.
#include <cuda_runtime.h>

__global__ void reverse_pairs(int* data, int n) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i < n) {
        tile[t] = data[i];
        __syncthreads();  // expect: barrier-divergence "barrier reached by 36 of 64 threads"
        data[i] = tile[t ^ 1];
    }
}

int main() {
    const int n = 100;
    int* data;
    cudaMalloc(&data, n * sizeof(int));
    cudaMemset(data, 0, n * sizeof(int));
    reverse_pairs<<<2, 64>>>(data, n);
    cudaDeviceSynchronize();
    cudaFree(data);
}
