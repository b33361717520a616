// SPDX-License-Identifier: MIT
// Blocks write over each other's elements, and read what others write in the same launch.
#include <cuda_runtime.h>

__global__ void smooth_in_place(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) {
        float left = x[i - 1];
        x[i] = 0.5f * (left + x[i]);  // expect: race-global "written while another thread may"
    }
}

__global__ void overlapping(int* out) {
    int i = blockIdx.x * (blockDim.x - 8) + threadIdx.x;
    out[i] = blockIdx.x;  // expect: race-global "`out[120]` is written"
}

int main() {
    float* x;
    int* out;
    cudaMalloc(&x, 512 * sizeof(float));
    cudaMalloc(&out, 512 * sizeof(int));
    cudaMemset(x, 0, 512 * sizeof(float));
    smooth_in_place<<<4, 128>>>(x, 512);
    overlapping<<<4, 128>>>(out);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
}
