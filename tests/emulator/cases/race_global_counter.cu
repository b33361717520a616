// SPDX-License-Identifier: MIT
// A counter without atomics, one read before all have counted, one cleared by one block for all.
#include <cuda_runtime.h>

__global__ void plain(int* counter) {
    *counter = *counter + 1;  // expect: race-global
}

__global__ void one_thread_a_block(int* counter) {
    if (threadIdx.x == 0) {
        int old = *counter;
        *counter = old + 1;  // expect: race-global
    }
}

__global__ void read_too_early(int* counter, int* out) {
    atomicAdd(counter, 1);
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) {
        *out = *counter;  // expect: race-global "without an atomic"
    }
}

__global__ void cleared_by_one(int* counter) {
    if (threadIdx.x == 0 && blockIdx.x == 0) *counter = 0;
    __syncthreads();
    atomicAdd(counter, 1);  // expect: race-global
}

int main() {
    int* counter;
    cudaMalloc(&counter, 2 * sizeof(int));
    cudaMemset(counter, 0, 2 * sizeof(int));
    plain<<<1, 32>>>(counter);
    one_thread_a_block<<<4, 32>>>(counter);
    read_too_early<<<4, 64>>>(counter, counter + 1);
    cleared_by_one<<<4, 64>>>(counter);
    cudaDeviceSynchronize();
    cudaFree(counter);
}
