// SPDX-License-Identifier: MIT
// The two sides of a named barrier do not agree on how many threads meet there.
#include <cuda_runtime.h>

template <int kWaited>
__global__ void hand_over(int* out) {
    __shared__ int tile[32];
    if (threadIdx.x < 32) {
        tile[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, %0;" ::"n"(kWaited) : "memory");  // expect: deadlock "number 1"
        out[threadIdx.x - 32] = tile[63 - threadIdx.x];
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    // twin: deadlock
    hand_over<64><<<1, 64>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    hand_over<96><<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
