// SPDX-License-Identifier: MIT
// The lock is taken and never given back: the second block waits for ever.
#include <cuda_runtime.h>

__global__ void add(int* lock, int* total) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {  // expect: hang
        }
        *total += 1;
        __threadfence();
    }
}

int main() {
    int *lock, *total;
    cudaMalloc(&lock, sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(lock, 0, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    add<<<2, 32>>>(lock, total);
    cudaDeviceSynchronize();
    cudaFree(lock);
    cudaFree(total);
}
