// SPDX-License-Identifier: MIT
// Clean: stream-ordered memory reused over streams with events between, and double buffering.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void fill(int* data, int n, int v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = v + i;
}
__global__ void sum(const int* data, int n, unsigned long long* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, (unsigned long long)data[i]);
}

int main() {
    const int n = 500;
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    unsigned long long *out, host[8];
    cudaMalloc(&out, 8 * sizeof(*out));
    cudaMemset(out, 0, 8 * sizeof(*out));
    cudaDeviceSynchronize();
    cudaEvent_t filled, used;
    cudaEventCreate(&filled);
    cudaEventCreate(&used);
    // twin: use-after-free, race-global
    for (int round = 0; round < 8; ++round) {
        int* data;
        cudaMallocAsync(&data, n * sizeof(int), a);
        fill<<<4, 128, 0, a>>>(data, n, round);
        cudaEventRecord(filled, a);
        cudaStreamWaitEvent(b, filled, 0);
        sum<<<4, 128, 0, b>>>(data, n, out + round);
        cudaEventRecord(used, b);
        cudaStreamWaitEvent(a, used, 0);
        cudaFreeAsync(data, a);
    }
    cudaStreamSynchronize(b);
    cudaStreamSynchronize(a);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);

    // Two buffers, each with a stream of its own: copy in, work, copy out.
    const int chunk = 256, chunks = 8;
    int *pinned, *device[2];
    cudaMallocHost(&pinned, chunk * chunks * sizeof(int));
    cudaMalloc(&device[0], chunk * sizeof(int));
    cudaMalloc(&device[1], chunk * sizeof(int));
    // twin: race-global
    for (int c = 0; c < chunks; ++c) {
        cudaStream_t s = c % 2 ? b : a;
        cudaMemcpyAsync(
            device[c % 2], pinned + c * chunk, chunk * sizeof(int), cudaMemcpyHostToDevice, s);
        fill<<<2, 128, 0, s>>>(device[c % 2], chunk, c);
        cudaMemcpyAsync(
            pinned + c * chunk, device[c % 2], chunk * sizeof(int), cudaMemcpyDeviceToHost, s);
    }
    cudaDeviceSynchronize();
    bool right = pinned[chunk + 1] == 2 && host[1] == n * (n - 1) / 2 + n;
    cudaFreeHost(pinned);
    cudaFree(device[0]);
    cudaFree(device[1]);
    cudaFree(out);
    cudaEventDestroy(filled);
    cudaEventDestroy(used);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    std::printf("%d\n", right);
    return right ? 0 : 1;
}
