// SPDX-License-Identifier: MIT
// A block leaves the address of its shared array for the others, to which it means their own.
#include <cuda_runtime.h>

__device__ int* queue;
__device__ int ready;

// Block 0 fills a table, and all blocks are to use it.
__global__ void use_one_table(int* out) {
    __shared__ int table[32];
    table[threadIdx.x] = blockIdx.x ? 0 : threadIdx.x * threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            queue = table;
            __threadfence();
            atomicExch(&ready, 1);
        }
        while (atomicAdd(&ready, 0) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    // expect: invalid-address "shared variable of another block"
    out[blockIdx.x * 32 + threadIdx.x] = queue[31 - threadIdx.x];
}

// The table of the launch before.
__global__ void keep_table(int** where) {
    __shared__ int table[32];
    table[threadIdx.x] = threadIdx.x;
    // expect: invalid-address "writes through the address of a shared variable of another block"
    if (*where) (*where)[threadIdx.x] = 5;
    __syncthreads();
    if (threadIdx.x == 0) *where = table;
}

int main() {
    int* out;
    int** where;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&where, sizeof *where);
    cudaMemset(where, 0, sizeof *where);
    use_one_table<<<2, 32>>>(out);
    keep_table<<<1, 32>>>(where);
    keep_table<<<1, 32>>>(where);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(where);
}
