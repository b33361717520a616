// SPDX-License-Identifier: MIT
// Freed after the kernel, in any order; new memory may lie where old memory was.
#include <cuda_runtime.h>

__global__ void fill(int* data, int n, int value) {
    int i = threadIdx.x;
    if (i < n) data[i] = value;
}

int main() {
    // twin: use-after-free
    for (int round = 0; round < 20; ++round) {
        int *a, *b;
        cudaMalloc(&a, 400);
        cudaMalloc(&b, 400);
        fill<<<1, 128>>>(a, 100, round);
        cudaFree(a);
        fill<<<1, 128>>>(b, 100, round);
        int last = -1;
        cudaMemcpy(&last, b + 99, sizeof(int), cudaMemcpyDeviceToHost);
        cudaFree(b);
        if (last != round) return 1;
    }
    cudaStream_t stream;
    int* c;
    cudaStreamCreate(&stream);
    // twin: use-after-free
    cudaMallocAsync(&c, 400, stream);
    fill<<<1, 128, 0, stream>>>(c, 100, 1);
    cudaFreeAsync(c, stream);
    const cudaError_t error = cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return error != cudaSuccess;
}
