// SPDX-License-Identifier: MIT
// What a program that was compiled for a newer architecture sees: the device's capability, and more
// shared memory than a compute capability of 7.5 has. Prints both.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void sum(int* out, int n) {
    extern __shared__ int values[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = i;
    __syncthreads();
    if (threadIdx.x) return;
    int total = 0;
    for (int i = 0; i < n; ++i) total += values[i] & 1;
    *out = total;
}

int main() {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
    std::printf("capability %d.%d, %zu bytes for a block\n",
                properties.major,
                properties.minor,
                properties.sharedMemPerBlockOptin);
    const int bytes = 150 << 10, n = bytes / 4;
    int* out = nullptr;
    if (cudaMallocManaged(&out, sizeof *out) != cudaSuccess) return 1;
    const cudaError_t allowed =
        cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    std::printf("150 KiB: %s\n", cudaGetErrorName(allowed));
    if (allowed == cudaSuccess) {
        sum<<<1, 256, bytes>>>(out, n);
        std::printf("launch: %s, ", cudaGetErrorName(cudaDeviceSynchronize()));
        std::printf("sum %d\n", *out);
    }
    cudaFree(out);
    return 0;
}
