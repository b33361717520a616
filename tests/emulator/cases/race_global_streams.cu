// SPDX-License-Identifier: MIT
// Two streams and one array, with nothing between them; then a copy that comes too early.
#include <cuda_runtime.h>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

__global__ void add(const int* x, int* out) {
    out[threadIdx.x] = x[threadIdx.x] + 1;  // expect: race-global "is read while another thread"
}

__global__ void twice(const int* x, int* out) {
    out[threadIdx.x] = 2 * x[threadIdx.x];
}

int main() {
    int *x, *y, *host;
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMalloc(&y, 64 * sizeof(int));
    cudaMallocHost(&host, 64 * sizeof(int));
    fill<<<1, 64, 0, first>>>(x, 1);
    add<<<1, 64, 0, second>>>(x, y);
    cudaDeviceSynchronize();
    twice<<<1, 64, 0, second>>>(x, y);
    const size_t bytes = 64 * sizeof(int);
    cudaMemcpyAsync(host, y, bytes, cudaMemcpyDeviceToHost, first);  // expect: race-global
    cudaDeviceSynchronize();
    cudaFreeHost(host);
    cudaFree(x);
    cudaFree(y);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}
