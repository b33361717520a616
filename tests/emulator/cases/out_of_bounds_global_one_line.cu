// SPDX-License-Identifier: MIT
// Three arrays overrun on one line are one bug.
#include <cuda_runtime.h>

__global__ void add(const double* a, const double* b, double* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) c[i] = a[i] + b[i];  // expect: out-of-bounds-global "has 512 elements (0 to 511)"
}

int main() {
    const int n = 512;
    double *a, *b, *c;
    cudaMalloc(&a, n * sizeof(double));
    cudaMalloc(&b, n * sizeof(double));
    cudaMalloc(&c, n * sizeof(double));
    cudaMemset(a, 0, n * sizeof(double));
    cudaMemset(b, 0, n * sizeof(double));
    add<<<3, 256>>>(a, b, c, n);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
