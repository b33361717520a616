// SPDX-License-Identifier: MIT
// Uses the driver API and NVIDIA's runtime: where that is linked statically, it finds no card.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void set(int* value) {
    *value = 1;
}

int main() {
    int devices = 0;
    if (cuInit(0) || cuDeviceGetCount(&devices)) return 2;
    int* value = nullptr;
    const cudaError_t error = cudaMalloc(&value, sizeof *value);
    if (!error) set<<<1, 1>>>(value);
    std::printf("%d devices, %s\n", devices, cudaGetErrorName(error));
    return error != cudaSuccess;
}
