// SPDX-License-Identifier: MIT
// Two streams that hand arrays to each other: by events, by waiting, through the default stream.
#include <cuda_runtime.h>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += x[i];
}

int main() {
    int *x, *y, *host;
    cudaStream_t first, second, third;
    cudaEvent_t ready;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&y, 256 * sizeof(int));
    cudaMallocHost(&host, 256 * sizeof(int));
    cudaMemset(y, 0, 256 * sizeof(int));
    for (int i = 0; i < 256; ++i) host[i] = i;
    cudaDeviceSynchronize();

    cudaMemcpyAsync(x, host, 256 * sizeof(int), cudaMemcpyHostToDevice, first);
    cudaEventRecord(ready, first);
    cudaStreamWaitEvent(second, ready, 0);
    add<<<2, 128, 0, second>>>(x, y);
    cudaEventRecord(ready, second);
    cudaStreamWaitEvent(third, ready, 0);
    fill<<<2, 128, 0, third>>>(x, 3);
    cudaStreamSynchronize(third);
    add<<<2, 128, 0, first>>>(x, y);  // second is done as well: third waited for it
    add<<<2, 128>>>(x, y);
    add<<<2, 128, 0, second>>>(x, y);
    cudaMemcpy(host, y, 256 * sizeof(int), cudaMemcpyDeviceToHost);
    fill<<<1, 128, 0, third>>>(y, 0);
    fill<<<1, 128, 0, first>>>(y + 128, 0);  // another half
    cudaDeviceSynchronize();

    cudaEventDestroy(ready);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaStreamDestroy(third);
    cudaFreeHost(host);
    cudaFree(x);
    cudaFree(y);
}
