// SPDX-License-Identifier: MIT
// Freed one line too early.
#include <cuda_runtime.h>

__global__ void scale(float* data, int n) {
    int i = threadIdx.x;
    // expect: use-after-free "`data[0]` is written, but `data` has been freed"
    if (i < n) data[i] = 3.0f;
}

int main() {
    float* data;
    cudaMalloc(&data, 100 * sizeof(float));
    cudaFree(data);
    scale<<<1, 128>>>(data, 100);
    cudaDeviceSynchronize();
}
