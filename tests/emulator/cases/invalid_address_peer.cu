// SPDX-License-Identifier: MIT
// A kernel of device 0 writes memory of device 1, and nobody has enabled peer access.
// env: EMULATOR_DEVICES=2
#include <cuda_runtime.h>

__global__ void fill(float* out) {
    out[threadIdx.x] = 1;  // expect: invalid-address "this kernel has no access to it"
}

int main() {
    float* out = nullptr;
    cudaSetDevice(1);
    cudaMalloc(&out, 32 * sizeof(float));
    cudaSetDevice(0);
    fill<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaSetDevice(1);
    cudaFree(out);
}
