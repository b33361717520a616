// SPDX-License-Identifier: MIT
// The kernel says which block it was written for.
#include <cassert>

#include <cuda_runtime.h>

__device__ void require_block(unsigned int threads) {
    assert(blockDim.x == threads);  // expect: assert "blockDim.x == threads"
}

__global__ void kernel(int* out) {
    require_block(64);
    out[threadIdx.x] = 1;
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
