// SPDX-License-Identifier: MIT
// Recursion that ends in time, and deep recursion with the stack raised for it.
#include <cuda_runtime.h>

// twin: stack-overflow
__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// twin: stack-overflow
__device__ __noinline__ int descend(int depth, int seed) {
    int notes[32];
    for (int k = 0; k < 32; ++k) notes[k] = seed + k;
    if (depth == 0) return notes[seed & 31];
    return notes[depth & 31] + descend(depth - 1, notes[seed & 31] & 0xffff);
}

__global__ void shallow(int* out) {
    out[threadIdx.x] = fibonacci(7);
}
__global__ void deep(int* out) {
    out[threadIdx.x] = descend(30, threadIdx.x);
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    shallow<<<1, 32>>>(out);
    cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10);
    deep<<<1, 32>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(out);
    return error != cudaSuccess;
}
