// SPDX-License-Identifier: MIT
// A flag that is polled with a plain load: the compiler reads it once, before the loop.
#include <cuda_runtime.h>

__global__ void wait(int* flag, int* out) {
    if (blockIdx.x == 0) {
        while (*flag == 0)  // expect: race-global "without an atomic", hang
            continue;
        out[threadIdx.x] = 1;
    } else if (threadIdx.x == 0) {
        atomicExch(flag, 1);
    }
}

// twin: hang
__global__ void wait_volatile(volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        while (*flag == 0) continue;
        out[threadIdx.x] = 1;
    } else if (threadIdx.x == 0) {
        *flag = 1;
    }
}

int main() {
    int *flag, *out;
    cudaMalloc(&flag, sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    wait_volatile<<<2, 32>>>(flag, out);
    cudaMemset(flag, 0, sizeof(int));
    wait<<<2, 32>>>(flag, out);
    cudaDeviceSynchronize();
    cudaFree(flag);
    cudaFree(out);
}
