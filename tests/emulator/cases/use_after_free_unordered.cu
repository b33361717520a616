// SPDX-License-Identifier: MIT
// Freed in the order of one stream, while a kernel of another one may still be at work on it.
#include <cuda_runtime.h>

__global__ void fill(int* data) {
    data[threadIdx.x] = threadIdx.x;
}

int main() {
    cudaStream_t work, other;
    cudaStreamCreate(&work);
    cudaStreamCreate(&other);
    cudaEvent_t done;
    cudaEventCreate(&done);
    int *a, *b, *c;
    cudaMallocAsync(&a, 128, work);
    cudaMallocAsync(&b, 128, work);
    cudaMallocAsync(&c, 128, work);
    fill<<<1, 32, 0, work>>>(a);
    fill<<<1, 32, 0, work>>>(b);
    cudaFreeAsync(a, other);  // expect: use-after-free "freed by `cudaFreeAsync` while a kernel"
    cudaEventRecord(done, work);
    cudaStreamWaitEvent(other, done, 0);
    // twin: use-after-free
    cudaFreeAsync(b, other);
    fill<<<1, 32, 0, work>>>(c);
    // twin: use-after-free
    cudaFreeAsync(c, work);
    cudaDeviceSynchronize();
    cudaEventDestroy(done);
    cudaStreamDestroy(work);
    cudaStreamDestroy(other);
}
