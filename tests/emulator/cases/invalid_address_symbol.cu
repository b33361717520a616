// SPDX-License-Identifier: MIT
// A device variable handed over by its name on the host, whose address the device does not know.
#include <cuda_runtime.h>

__device__ int lookup[16];

__global__ void read(const int* table, int* out) {
    out[threadIdx.x] = table[threadIdx.x & 15];  // expect: invalid-address "host"
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    read<<<1, 32>>>(lookup, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
