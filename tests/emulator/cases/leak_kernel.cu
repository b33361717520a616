// SPDX-License-Identifier: MIT
// Memory from malloc in a kernel that no kernel gives back; and some that another kernel does.
#include <cuda_runtime.h>

__global__ void build(int** rows) {
    rows[threadIdx.x] = static_cast<int*>(malloc(40));
    rows[threadIdx.x + 32] = static_cast<int*>(malloc(8));  // expect: leak "256 bytes from"
}

// twin: leak
__global__ void drop(int** rows) {
    free(rows[threadIdx.x]);
}

int main() {
    int** rows;
    cudaMalloc(&rows, 64 * sizeof(int*));
    build<<<1, 32>>>(rows);
    drop<<<1, 32>>>(rows);
    cudaDeviceSynchronize();
    cudaFree(rows);
}
