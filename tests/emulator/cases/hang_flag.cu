// SPDX-License-Identifier: MIT
// A flag that nobody ever sets.
#include <cuda_runtime.h>

__global__ void wait_for(volatile int* flag, int* out) {
    while (*flag == 0) {  // expect: hang
    }
    out[threadIdx.x] = *flag;
}

int main() {
    int *flag, *out;
    cudaMalloc(&flag, sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    wait_for<<<1, 32>>>(flag, out);
    cudaDeviceSynchronize();
    cudaFree(flag);
    cudaFree(out);
}
