// SPDX-License-Identifier: MIT
// 0.1 added ten times is not 1, so the loop goes on, while the other warp waits.
#include <cuda_runtime.h>

__global__ void steps(float* out, float step) {
    if (threadIdx.x == 0) {
        volatile float x = 0;
        while (x != 1.0f) x = x + step;  // expect: hang
        out[0] = x;
    }
    __syncthreads();
    out[threadIdx.x] = 1;
}

int main() {
    float* out;
    cudaMalloc(&out, 64 * sizeof(float));
    steps<<<1, 64>>>(out, 0.1f);
    cudaDeviceSynchronize();
    cudaFree(out);
}
