// SPDX-License-Identifier: MIT
// The lanes of one warp part before the barrier.
#include <cuda_runtime.h>

__global__ void halves(int* out) {
    __shared__ int low[32], high[32];
    int t = threadIdx.x;
    if (t < 16) {
        low[t] = t * 3;
        // expect: barrier-divergence "threads of one warp wait at different barriers"
        __syncthreads();
        out[t] = low[15 - t];
    } else {
        high[t] = t * 5;
        __syncthreads();
        out[t] = high[47 - t];
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    halves<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
