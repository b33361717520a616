// SPDX-License-Identifier: MIT
// Conditions that hold, also in the last, short warp; a trap that nobody reaches.
#include <cassert>

#include <cuda_runtime.h>

__global__ void kernel(const int* in, int* out, int n) {
    // twin: assert
    assert(blockDim.x == 64);
    int i = threadIdx.x;
    if (i >= n) return;
    // twin: assert
    assert(in[i] >= 0);
    // twin: assert
    if (in[i] < 0) __trap();
    out[i] = in[i] + 1;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 40 * sizeof(int));
    cudaMalloc(&out, 40 * sizeof(int));
    cudaMemset(in, 0, 40 * sizeof(int));
    kernel<<<1, 64>>>(in, out, 40);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return error != cudaSuccess;
}
