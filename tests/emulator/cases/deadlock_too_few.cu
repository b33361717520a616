// SPDX-License-Identifier: MIT
// The named barrier waits for 64 threads, and only one warp of 32 comes.
#include <cuda_runtime.h>

__global__ void wait(int* out) {
    if (threadIdx.x < 32) {
        // expect: deadlock "32 threads wait at the barrier number 1"
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    out[threadIdx.x] = 1;
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    wait<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
