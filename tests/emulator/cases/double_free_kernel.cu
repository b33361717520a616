// SPDX-License-Identifier: MIT
// Memory from malloc in a kernel is given back twice, by two threads.
#include <cuda_runtime.h>

__global__ void list(int n, int* out) {
    __shared__ int* scratch;
    if (threadIdx.x == 0) scratch = static_cast<int*>(malloc(n * sizeof(int)));
    __syncthreads();
    if (threadIdx.x < n) scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = scratch[threadIdx.x % n];
    __syncthreads();
    // twin: double-free
    if (n == 10 && threadIdx.x == 0) free(scratch);
    // expect: double-free "already been freed"
    if (n != 10 && threadIdx.x % 16 == 0) free(scratch);
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    list<<<1, 32>>>(10, out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    list<<<1, 32>>>(20, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
