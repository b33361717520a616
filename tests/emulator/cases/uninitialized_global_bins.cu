// SPDX-License-Identifier: MIT
// Nobody cleared the bins before counting into them.
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char* data, int n, unsigned int* bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: uninitialized-global "`bins[7]` is updated"
    if (i < n) atomicAdd(&bins[data[i] & 15], 1u);
}

int main() {
    const int n = 1000;
    unsigned char* data;
    unsigned int* bins;
    cudaMalloc(&data, n);
    cudaMalloc(&bins, 16 * sizeof(unsigned int));
    cudaMemset(data, 7, n);
    histogram<<<4, 256>>>(data, n, bins);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(bins);
}
