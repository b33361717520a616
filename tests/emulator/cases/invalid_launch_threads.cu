// SPDX-License-Identifier: MIT
// More threads than a block may have, in one dimension and in all together.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void kernel() {}

int main() {
    kernel<<<1, 2048>>>();  // expect: invalid-launch
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    kernel<<<1, dim3(64, 32)>>>();  // expect: invalid-launch
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    kernel<<<1, dim3(1, 1, 128)>>>();  // expect: invalid-launch
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
