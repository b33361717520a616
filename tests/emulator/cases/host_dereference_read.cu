// SPDX-License-Identifier: MIT
// The host reads an element of the device's array.
#include <cstdio>

#include <cuda_runtime.h>

int main() {
    int* data;
    cudaMalloc(&data, 100 * sizeof(int));
    cudaMemset(data, 0, 100 * sizeof(int));
    std::printf("%d\n", data[3]);  // expect: host-dereference
    cudaFree(data);
}
