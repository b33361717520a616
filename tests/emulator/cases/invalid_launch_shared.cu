// SPDX-License-Identifier: MIT
// More shared memory than a block gets without asking for it.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    extern __shared__ int buffer[];
    buffer[threadIdx.x] = 1;
    out[threadIdx.x] = buffer[threadIdx.x];
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    kernel<<<1, 32, 60 << 10>>>(out);  // expect: invalid-launch
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    cudaFree(out);
}
