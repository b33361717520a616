// SPDX-License-Identifier: MIT
// Even and odd warps meet at different barriers.
#include <cuda_runtime.h>

__global__ void ping(int* out) {
    __shared__ int left[128], right[128];
    int t = threadIdx.x;
    if (t / 32 % 2 == 0) {
        left[t] = t * 3;
        // expect: barrier-divergence "threads of one block wait at different barriers"
        __syncthreads();
        out[t] = left[t] + 1;
    } else {
        right[t] = t * 5;
        __syncthreads();
        out[t] = right[t] - 1;
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 128 * sizeof(int));
    ping<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
