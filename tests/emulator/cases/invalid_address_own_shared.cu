// SPDX-License-Identifier: MIT
// Addresses of shared arrays that go through memory, a shuffle and a call, and stay in their block.
#include <cstdio>

#include <cuda_runtime.h>

__device__ __noinline__ int pick(const int* from, int index) {
    return from[index];
}

// twin: invalid-address
__global__ void through_memory(int** nodes, int* out) {
    __shared__ int table[64];
    table[threadIdx.x] = threadIdx.x;
    nodes[blockIdx.x * 64 + (threadIdx.x ^ 33)] = &table[threadIdx.x ^ 33];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = *nodes[blockIdx.x * 64 + threadIdx.x];
}

// twin: invalid-address
__global__ void through_shared(int**, int* out) {
    __shared__ int first[64], second[64];
    __shared__ int* halves[2];
    first[threadIdx.x] = threadIdx.x;
    second[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 2) halves[threadIdx.x] = threadIdx.x ? second : first;
    __syncthreads();
    int* chosen = halves[(blockIdx.x + threadIdx.x) & 1];
    chosen =
        reinterpret_cast<int*>(__shfl_sync(~0u, reinterpret_cast<unsigned long long>(chosen), 7));
    out[blockIdx.x * 64 + threadIdx.x] = pick(chosen, threadIdx.x);
}

int main() {
    constexpr int kBlocks = 300, kThreads = 64, n = kBlocks * kThreads;
    int *out, **nodes;
    static int host[n];
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&nodes, n * sizeof *nodes);
    bool right = true;
    for (void (*kernel)(int**, int*) : {through_memory, through_shared}) {
        cudaMemset(out, 0, sizeof host);
        kernel<<<kBlocks, kThreads>>>(nodes, out);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; ++i) right &= host[i] == i % kThreads;
    }
    cudaFree(out);
    cudaFree(nodes);
    if (!right) std::puts("wrong value");
    return right ? 0 : 1;
}
