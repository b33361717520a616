// SPDX-License-Identifier: MIT
// The counter of a block is added to, but never set to zero.
#include <cuda_runtime.h>

__global__ void count(const int* flags, int n, int* counts) {
    __shared__ int found;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: uninitialized-shared "`found` is updated"
    if (i < n && flags[i]) atomicAdd(&found, 1);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = found;
}

int main() {
    const int n = 256;
    int *flags, *counts;
    cudaMalloc(&flags, n * sizeof(int));
    cudaMalloc(&counts, 2 * sizeof(int));
    cudaMemset(flags, 1, n * sizeof(int));
    count<<<2, 128>>>(flags, n, counts);
    cudaDeviceSynchronize();
    cudaFree(flags);
    cudaFree(counts);
}
