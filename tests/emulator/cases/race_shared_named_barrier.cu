// SPDX-License-Identifier: MIT
// Two warps meet at a named barrier, and a third one that did not come reads as well.
#include <cuda_runtime.h>

__global__ void two_of_three(int* out) {
    __shared__ int tile[64];
    int t = threadIdx.x, warp = t / 32;
    if (warp < 2) {
        tile[t] = t;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = tile[63 - t];
    } else {
        out[t] = tile[t - 64];  // expect: race-shared
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 96 * sizeof(int));
    two_of_three<<<1, 96>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
