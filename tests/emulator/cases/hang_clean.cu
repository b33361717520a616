// SPDX-License-Identifier: MIT
// Spinning that ends: a lock that is given back, a flag that another block sets, a long loop.
// env: EMULATOR_BUDGET=2000000000
#include <cuda_runtime.h>

// twin: hang
__global__ void locked(int* lock, int* total) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *reinterpret_cast<volatile int*>(total) += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// twin: hang
// The first block waits for the last one, which is resident at the same time.
__global__ void wait_for_last(int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == gridDim.x - 1) {
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        out[blockIdx.x] = 1;
    }
}

// twin: hang
__global__ void long_loop(unsigned int* out) {
    unsigned int x = threadIdx.x + 1;
    for (int i = 0; i < 200000; ++i) x = x * 1664525u + 1013904223u;
    out[threadIdx.x] = x;
}

int main() {
    int* data;
    cudaMalloc(&data, 256);
    cudaMemset(data, 0, 256);
    locked<<<8, 64>>>(data, data + 1);
    wait_for_last<<<4, 32>>>(data + 2, data + 3);
    long_loop<<<1, 32>>>(reinterpret_cast<unsigned int*>(data + 16));
    int total = 0;
    const cudaError_t error = cudaMemcpy(&total, data + 1, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(data);
    return error == cudaSuccess && total == 8 ? 0 : 1;
}
