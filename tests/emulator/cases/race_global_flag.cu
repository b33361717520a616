// SPDX-License-Identifier: MIT
// One block produces, the other polls a flag: raised too early, with too narrow a fence, plainly.
#include <cuda_runtime.h>

__global__ void no_fence(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        *out = *data;  // expect: race-global "is read while another thread"
    }
}

__global__ void narrow_fence(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence_block();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        *out = *data;  // expect: race-global
    }
}

__global__ void plain_flag(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (atomicAdd(flag, 0) == 0) {  // expect: race-global
        }
        __threadfence();
        *out = *(volatile int*)data;
    }
}

int main() {
    int* words;
    cudaMalloc(&words, 3 * sizeof(int));
    cudaMemset(words, 0, 3 * sizeof(int));
    no_fence<<<2, 1>>>(words, words + 1, words + 2);
    cudaMemset(words, 0, 3 * sizeof(int));
    narrow_fence<<<2, 1>>>(words, words + 1, words + 2);
    cudaMemset(words, 0, 3 * sizeof(int));
    plain_flag<<<2, 1>>>(words, words + 1, words + 2);
    cudaDeviceSynchronize();
    cudaFree(words);
}
