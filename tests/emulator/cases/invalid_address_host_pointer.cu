// SPDX-License-Identifier: MIT
// The kernel is given the array of the host.
#include <cstdlib>

#include <cuda_runtime.h>

__global__ void sum(const int* values, int n, int* total) {
    int i = threadIdx.x;
    if (i < n) atomicAdd(total, values[i]);  // expect: invalid-address "host memory"
}

int main() {
    const int n = 100;
    int* values = static_cast<int*>(std::calloc(n, sizeof(int)));
    int* total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    sum<<<1, 128>>>(values, n, total);
    cudaDeviceSynchronize();
    cudaFree(total);
    std::free(values);
}
