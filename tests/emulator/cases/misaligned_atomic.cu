// SPDX-License-Identifier: MIT
// An atomic on a 64-bit counter that lies at offset 4.
#include <cuda_runtime.h>

__global__ void count(char* block) {
    atomicAdd(reinterpret_cast<unsigned long long*>(block + 4), 1ull);  // expect: misaligned
}

int main() {
    char* block;
    cudaMalloc(&block, 64);
    cudaMemset(block, 0, 64);
    count<<<1, 32>>>(block);
    cudaDeviceSynchronize();
    cudaFree(block);
}
