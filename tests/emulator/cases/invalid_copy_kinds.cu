// SPDX-License-Identifier: MIT
// Copies that go too far: to a symbol, of a vector, in two dimensions, memset, from the middle,
// asynchronously.
#include <cuda_runtime.h>
#include <vector>

__constant__ float weights[16];
__device__ int counters[4];

int main() {
    std::vector<float> host(32);
    cudaError_t e[12];
    // twin: invalid-copy
    e[0] = cudaMemcpyToSymbol(weights, host.data(), 16 * sizeof(float));
    // expect: invalid-copy
    e[1] = cudaMemcpyToSymbol(weights, host.data(), 32 * sizeof(float));
    // expect: invalid-copy
    e[2] = cudaMemcpyToSymbol(weights, host.data(), 8 * sizeof(float), 40);
    int got[4];
    cudaMemcpyToSymbol(counters, host.data(), sizeof counters);
    // twin: invalid-copy
    e[3] = cudaMemcpyFromSymbol(got, counters, sizeof got);
    e[4] = cudaMemcpyFromSymbol(host.data(), counters, 64);  // expect: invalid-copy
    float* data;
    cudaMalloc(&data, 32 * sizeof(float));
    e[5] = cudaMemset(data, 0, 32 * sizeof(float) + 1);  // expect: invalid-copy
    // expect: invalid-copy
    e[6] = cudaMemcpy(data + 16, host.data(), 32 * sizeof(float), cudaMemcpyHostToDevice);
    cudaStream_t s;
    cudaStreamCreate(&s);
    // expect: invalid-copy
    e[7] = cudaMemcpyAsync(host.data(), data, 33 * sizeof(float), cudaMemcpyDeviceToHost, s);
    // expect: invalid-copy
    e[8] = cudaMemcpy2D(data, 32, host.data(), 32, 32, 5, cudaMemcpyHostToDevice);
    // twin: invalid-copy
    e[9] = cudaMemcpy2D(data, 32, host.data(), 32, 32, 4, cudaMemcpyHostToDevice);
    void* pinned;
    cudaMallocHost(&pinned, 100);
    // expect: invalid-copy
    e[10] = cudaMemcpyAsync(data, pinned, 128, cudaMemcpyHostToDevice, s);
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
    cudaFreeHost(pinned);
    cudaFree(data);
    int failed = 0;
    for (int i = 0; i < 11; ++i) failed += e[i] != cudaSuccess;
    cudaGetLastError();
    return failed ? 0 : 1;
}
