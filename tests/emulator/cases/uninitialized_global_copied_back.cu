// SPDX-License-Identifier: MIT
// Results that no kernel has written: the launch forgotten, refused, or told another array.
#include <cuda_runtime.h>

__global__ void fill(int* out, int n) {
    if (threadIdx.x < n) out[threadIdx.x] = 1;
}

int main() {
    int *a, *b, *c, host[64];
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMalloc(&c, sizeof host);
    // expect: warning uninitialized-global
    cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
    fill<<<1, 64>>>(a, 64);
    // expect: warning uninitialized-global
    cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost);
    fill<<<1, 64>>>(c, 0);
    cudaMemcpy(host, c + 8, 32, cudaMemcpyDeviceToHost);  // expect: warning uninitialized-global
    cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
    fill<<<1, 64>>>(b, 1);
    cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost);  // written in part, so it is silent
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
