// SPDX-License-Identifier: MIT
// The launch asks for as many bytes as the kernel uses elements.
#include <cuda_runtime.h>

__global__ void stage(float* data) {
    extern __shared__ float buffer[];
    int t = threadIdx.x;
    // expect: out-of-bounds-shared "`buffer[32]` is written, but `buffer` has 32 elements"
    buffer[t] = data[t];
    __syncthreads();
    if (t < 32) data[t] = buffer[31 - t];
}

int main() {
    const int n = 128;
    float* data;
    cudaMalloc(&data, n * sizeof(float));
    cudaMemset(data, 0, n * sizeof(float));
    stage<<<1, n, n>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
