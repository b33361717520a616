// SPDX-License-Identifier: MIT
// More bins than threads: those beyond blockDim.x are not cleared. Block 1 must not rely on block
// 0.
#include <cuda_runtime.h>

constexpr int kBins = 96;

__global__ void histogram(const int* data, int n, int* bins) {
    extern __shared__ int local[];
    int t = threadIdx.x;
    local[t] = 0;
    __syncthreads();
    // expect: uninitialized-shared "`local[70]` is updated"
    for (int i = t; i < n; i += blockDim.x) atomicAdd(&local[data[i]], 1);
    __syncthreads();
    atomicAdd(&bins[t], local[t]);
}

int main() {
    int host[64];
    for (int& value : host) value = 70;
    int *data, *bins;
    cudaMalloc(&data, sizeof host);
    cudaMalloc(&bins, kBins * sizeof(int));
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, kBins * sizeof(int));
    histogram<<<2, 64, kBins * sizeof(int)>>>(data, 64, bins);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(bins);
}
