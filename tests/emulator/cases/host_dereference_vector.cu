// SPDX-License-Identifier: MIT
// The host builds a vector from a device pointer.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

int main() {
    const int n = 100;
    int* data;
    cudaMalloc(&data, n * sizeof(int));
    cudaMemset(data, 0, n * sizeof(int));
    std::vector<int> host(data, data + n);  // expect: host-dereference
    std::printf("%d\n", host[0]);
    cudaFree(data);
}
