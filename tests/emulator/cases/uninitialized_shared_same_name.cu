// SPDX-License-Identifier: MIT
// Shared variables of one name and different types, one in each function: the element is that of
// the function's own.
// also: -G
#include <cuda_runtime.h>

__global__ void counter(int* out) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, 1);
    __syncthreads();
    if (threadIdx.x == 0) *out = s;
}

__device__ __noinline__ double middle(int k) {
    __shared__ double s[16];
    if (threadIdx.x < 8) s[threadIdx.x] = 1.0;
    __syncthreads();
    return s[k];  // expect: uninitialized-shared "`s[8]`"
}

__global__ void uses(double* out, int k) {
    out[threadIdx.x] = middle(k);
}

__global__ void rows(float* out, int n) {
    __shared__ float s[4][8];
    if (threadIdx.x < n) s[threadIdx.x / 8][threadIdx.x % 8] = 1.0f;
    __syncthreads();
    // expect: uninitialized-shared "`s[3][4]`"
    out[threadIdx.x] = s[3 - threadIdx.x / 8][threadIdx.x % 8];
}

int main() {
    double* out;
    cudaMalloc(&out, 32 * sizeof(double));
    // twin: uninitialized-shared
    counter<<<1, 32>>>((int*)out);
    uses<<<1, 32>>>(out, 7);
    rows<<<1, 32>>>((float*)out, 32);
    uses<<<1, 32>>>(out, 8);
    rows<<<1, 32>>>((float*)out, 28);
    cudaDeviceSynchronize();
    cudaFree(out);
}
