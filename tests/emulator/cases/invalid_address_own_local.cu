// SPDX-License-Identifier: MIT
// Addresses of local arrays that go through shared memory, a shuffle and a call, and come back to
// the thread that they belong to.
#include <cstdio>

#include <cuda_runtime.h>

__device__ __noinline__ int pick(const int* from, int index) {
    return from[index];
}

// twin: invalid-address
__global__ void keep(int* out) {
    __shared__ int* addresses[64];
    int mine[8];
    for (int i = 0; i < 8; ++i) mine[i] = threadIdx.x * 8 + i;
    addresses[threadIdx.x] = mine;
    __syncthreads();
    out[threadIdx.x] = addresses[threadIdx.x][threadIdx.x % 8];
}

// twin: invalid-address
__global__ void there_and_back(int* out) {
    int mine[8];
    for (int i = 0; i < 8; ++i) mine[i] = threadIdx.x * 8 + i;
    auto address = reinterpret_cast<unsigned long long>(&mine[threadIdx.x % 8]);
    address = __shfl_xor_sync(~0u, address, 1);
    address = __shfl_xor_sync(~0u, address, 1);
    out[threadIdx.x] = *reinterpret_cast<int*>(address);
}

// twin: invalid-address
__global__ void lend(int* out) {
    int mine[8];
    for (int i = 0; i < 8; ++i) mine[i] = threadIdx.x * 8 + i;
    out[threadIdx.x] = pick(mine, threadIdx.x % 8);
}

int main() {
    constexpr int kThreads = 64;
    int *out, host[kThreads];
    cudaMalloc(&out, sizeof host);
    bool right = true;
    for (void (*kernel)(int*) : {keep, there_and_back, lend}) {
        cudaMemset(out, 0, sizeof host);
        kernel<<<1, kThreads>>>(out);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        for (int i = 0; i < kThreads; ++i) right &= host[i] == i * 8 + i % 8;
    }
    cudaFree(out);
    if (!right) std::puts("wrong value");
    return right ? 0 : 1;
}
