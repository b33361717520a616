// SPDX-License-Identifier: MIT
// Pinned memory before the asynchronous copy into it is known to be done: cudaMallocHost with an
// event that was recorded too early, cudaHostRegister, and a copy of a part.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void fill(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

int main() {
    const int n = 4096;
    int *device, *pinned, *part;
    cudaStream_t stream;
    cudaEvent_t done;
    cudaStreamCreate(&stream);
    cudaEventCreate(&done);
    cudaMalloc(&device, n * sizeof(int));
    cudaMallocHost(&pinned, n * sizeof(int));
    cudaHostAlloc(&part, 64 * sizeof(int), cudaHostAllocDefault);
    int* own = static_cast<int*>(std::aligned_alloc(4096, n * sizeof(int)));
    cudaHostRegister(own, n * sizeof(int), cudaHostRegisterDefault);
    for (int i = 0; i < 64; ++i) part[i] = -1;

    fill<<<16, 256, 0, stream>>>(device, n);
    cudaEventRecord(done, stream);
    cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaEventSynchronize(done);
    // expect: race-global "`pinned[4095]` is read by the host while a copy may still be writing it"
    std::printf("%d\n", pinned[n - 1]);
    cudaStreamSynchronize(stream);

    cudaMemcpyAsync(own, device, n * sizeof(int), cudaMemcpyDeviceToHost);
    // expect: race-global "`own[2048]` is read by the host"
    std::printf("%d\n", own[n / 2]);
    cudaDeviceSynchronize();

    cudaMemcpyAsync(part + 32, device, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    std::printf("%d\n", part[31]);
    // expect: race-global "`part[32]` is read by the host"
    std::printf("%d\n", part[32]);
    cudaStreamSynchronize(stream);

    cudaHostUnregister(own);
    std::free(own);
    cudaEventDestroy(done);
    cudaStreamDestroy(stream);
    cudaFree(device);
    cudaFreeHost(pinned);
    cudaFreeHost(part);
}
