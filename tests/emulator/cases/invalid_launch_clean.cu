// SPDX-License-Identifier: MIT
// Everything at its limit.
#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    extern __shared__ int buffer[];
    if (threadIdx.x == 0) {
        buffer[0] = 1;
        out[0] = buffer[0];
    }
}

__global__ void empty() {}

int main() {
    int* out;
    cudaMalloc(&out, sizeof(int));
    // twin: invalid-launch
    empty<<<1, 1024>>>();
    empty<<<1, dim3(16, 1, 64)>>>();
    // twin: invalid-launch
    empty<<<dim3(1, 65535), 1>>>();
    kernel<<<1, 32, 48 << 10>>>(out);
    // twin: invalid-launch
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
    kernel<<<1, 32, 64 << 10>>>(out);
    const cudaError_t error = cudaGetLastError();
    const cudaError_t later = cudaDeviceSynchronize();
    cudaFree(out);
    return error != cudaSuccess || later != cudaSuccess;
}
