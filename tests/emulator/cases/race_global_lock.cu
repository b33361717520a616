// SPDX-License-Identifier: MIT
// A lock that is released without a fence, and one of whose users forgets to take it.
#include <cuda_runtime.h>

__global__ void no_fence(int* lock, int* total) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    int old = *total;
    *total = old + 1;  // expect: race-global
    atomicExch(lock, 0);
}

__global__ void one_forgets(int* lock, int* total) {
    if (threadIdx.x != 0) return;
    bool locks = blockIdx.x != 1;
    if (locks) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
    }
    atomicAdd(total + 1, 1);
    int old = *(volatile int*)total;
    *(volatile int*)total = old + 1;  // expect: race-global "written back"
    total[2] = old;                   // expect: race-global
    __threadfence();
    if (locks) atomicExch(lock, 0);
}

int main() {
    int* words;
    cudaMalloc(&words, 4 * sizeof(int));
    cudaMemset(words, 0, 4 * sizeof(int));
    no_fence<<<4, 32>>>(words, words + 1);
    one_forgets<<<4, 32>>>(words, words + 1);
    cudaDeviceSynchronize();
    cudaFree(words);
}
