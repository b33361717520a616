// SPDX-License-Identifier: MIT
// The size in elements was given where bytes are asked for.
#include <cuda_runtime.h>

__global__ void fill(float* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: out-of-bounds-global "`data[64]` is written, but `data` has 64 elements (0 to 63)"
    if (i < n) data[i] = 1.0f;
}

int main() {
    const int n = 256;
    float* data;
    cudaMalloc(&data, n);
    fill<<<1, 256>>>(data, n);
    cudaDeviceSynchronize();
    cudaFree(data);
}
