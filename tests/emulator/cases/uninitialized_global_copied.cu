// SPDX-License-Identifier: MIT
// The gap that a kernel left is copied along to another array and read there.
#include <cuda_runtime.h>

__global__ void write_half(double* data, int n) {
    int i = threadIdx.x;
    if (i < n / 2) data[i] = i;
}

__global__ void sum(const double* data, double* out, int n) {
    double total = 0;
    // expect: uninitialized-global "`data[50]` is read"
    for (int i = 0; i < n; ++i) total += data[i];
    *out = total;
}

int main() {
    const int n = 100;
    double *from, *to, *out;
    cudaMalloc(&from, n * sizeof(double));
    cudaMalloc(&to, n * sizeof(double));
    cudaMalloc(&out, sizeof(double));
    cudaMemset(to, 0, n * sizeof(double));
    write_half<<<1, 128>>>(from, n);
    cudaMemcpy(to, from, n * sizeof(double), cudaMemcpyDeviceToDevice);
    sum<<<1, 1>>>(to, out, n);
    cudaDeviceSynchronize();
    cudaFree(from);
    cudaFree(to);
    cudaFree(out);
}
