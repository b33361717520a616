// SPDX-License-Identifier: MIT
// More blocks than fit wait for the last one to raise a flag.
#include <cuda_runtime.h>

__global__ void wait_for_last(volatile int* flag, int* out) {
    if (blockIdx.x == gridDim.x - 1) {
        *flag = 1;
    } else {
        while (*flag == 0) {  // expect: hang
        }
    }
    out[blockIdx.x] = 1;
}

int main() {
    int *flag, *out;
    cudaMalloc(&flag, sizeof(int));
    cudaMalloc(&out, 2000 * sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    // twin: hang
    wait_for_last<<<40, 1024>>>(flag, out);
    cudaMemset(flag, 0, sizeof(int));
    wait_for_last<<<2000, 1024>>>(flag, out);
    cudaDeviceSynchronize();
    cudaFree(flag);
    cudaFree(out);
}
