// SPDX-License-Identifier: MIT
// Rounding down leaves no block at all; a grid that is too high.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void kernel(int) {}

int main() {
    const int n = 100;
    kernel<<<n / 256, 256>>>(n);  // expect: invalid-launch
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    kernel<<<dim3(1, 70000), 32>>>(n);  // expect: invalid-launch
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
