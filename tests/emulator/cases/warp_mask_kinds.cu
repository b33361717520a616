// SPDX-License-Identifier: MIT
// Two branches that name all lanes, but do not execute the same operation.
// also: -G
#include <cuda_runtime.h>

__global__ void shuffles(const int* in, int* out) {
    int v = in[threadIdx.x];
    if (threadIdx.x < 16) {
        // expect: warp-mask "meet at different shuffles"
        v = __shfl_xor_sync(~0u, v, 16);
    } else {
        v = __shfl_up_sync(~0u, v, 1);
    }
    out[threadIdx.x] = v;
}

// Both branches shift down: the same operation, although on two lines.
// twin: warp-mask
__global__ void twice(const int* in, int* out) {
    int v = in[threadIdx.x];
    if (threadIdx.x < 16) {
        v = __shfl_down_sync(~0u, v, 16);
    } else {
        v = 1 + __shfl_down_sync(~0u, v, 0);
    }
    out[threadIdx.x] = v;
}

int main() {
    int* words;
    cudaMalloc(&words, 512);
    cudaMemset(words, 0, 512);
    shuffles<<<1, 32>>>(words, words + 32);
    twice<<<1, 32>>>(words, words + 32);
    cudaDeviceSynchronize();
    cudaFree(words);
}
