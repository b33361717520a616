// SPDX-License-Identifier: MIT
// A block's barrier in a loop that some warps go through more often than others.
#include <cuda_runtime.h>

template <typename T>
__global__ void rounds(const int* counts, T* out) {
    __shared__ T s[128];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < counts[threadIdx.x / 32]; ++k) {
        s[threadIdx.x] += k;
        __syncthreads();  // expect: barrier-divergence
    }
    out[threadIdx.x] = s[127 - threadIdx.x];  // expect: race-shared
}

int main() {
    int host[4] = {3, 3, 4, 3}, *counts;
    float* out;
    cudaMalloc(&counts, sizeof host);
    cudaMalloc(&out, 128 * sizeof(float));
    cudaMemcpy(counts, host, sizeof host, cudaMemcpyHostToDevice);
    rounds<<<1, 128>>>(counts, out);
    cudaDeviceSynchronize();
    cudaFree(counts);
    cudaFree(out);
}
