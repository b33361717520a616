// SPDX-License-Identifier: MIT
// A kernel with a video instruction of PTX: the distance of four bytes. Prints the sum.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void distance(const unsigned* a, const unsigned* b, unsigned* out) {
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(*out) : "r"(*a), "r"(*b), "r"(0));
}

int main() {
    unsigned *data = nullptr, host[3] = {0x01020304, 0x04030201, 0};
    if (cudaMalloc(&data, sizeof host) != cudaSuccess) return 1;
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    distance<<<1, 1>>>(data, data + 1, data + 2);
    const cudaError_t error = cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%s %u\n", cudaGetErrorName(error), host[2]);
    return error != cudaSuccess;
}
