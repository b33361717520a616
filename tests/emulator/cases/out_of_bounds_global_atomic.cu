// SPDX-License-Identifier: MIT
// The last bin is one too far: the largest value belongs to bin `bins`.
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char* data, int n, unsigned int* bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // expect: out-of-bounds-global "`bins[16]` is updated, but `bins` has 16 elements (0 to 15)"
    atomicAdd(&bins[(data[i] + 1) / 16], 1u);
}

int main() {
    const int n = 1000;
    unsigned char* data;
    unsigned int* bins;
    cudaMalloc(&data, n);
    cudaMalloc(&bins, 16 * sizeof(unsigned int));
    cudaMemset(data, 255, n);
    cudaMemset(bins, 0, 16 * sizeof(unsigned int));
    histogram<<<4, 256>>>(data, n, bins);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(bins);
}
