// SPDX-License-Identifier: MIT
// Memory of cudaMallocAsync: other streams must wait for the one that it is allocated in.
#include <cuda_runtime.h>

__global__ void fill(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;  // expect: race-global "may still have to allocate it"
}

int main() {
    const int n = 256;
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t made;
    cudaEventCreate(&made);
    int* p;

    // twin: race-global
    cudaMallocAsync(&p, n * sizeof(int), first);
    cudaEventRecord(made, first);
    cudaStreamWaitEvent(second, made);
    fill<<<2, 128, 0, second>>>(p, n);
    cudaStreamSynchronize(second);
    cudaFreeAsync(p, first);

    // twin: race-global
    cudaMallocAsync(&p, n * sizeof(int), first);
    cudaStreamSynchronize(first);
    cudaMemsetAsync(p, 0, n * sizeof(int), second);
    cudaStreamSynchronize(second);
    cudaFreeAsync(p, first);

    cudaMallocAsync(&p, n * sizeof(int), first);
    fill<<<2, 128, 0, second>>>(p, n);
    cudaStreamSynchronize(second);
    cudaStreamSynchronize(first);
    cudaFreeAsync(p, first);

    cudaMallocAsync(&p, n * sizeof(int), first);
    // expect: race-global "may still be allocating it"
    cudaMemsetAsync(p, 0, n * sizeof(int), second);
    cudaStreamSynchronize(second);
    cudaStreamSynchronize(first);
    cudaFreeAsync(p, first);

    cudaStreamSynchronize(first);
    cudaEventDestroy(made);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}
