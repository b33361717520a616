// SPDX-License-Identifier: MIT
// All threads store to one shared word: whose value stays, nobody knows.
#include <cuda_runtime.h>

__global__ void last_one(const int* in, int* out) {
    __shared__ int winner;
    if (in[threadIdx.x] > 10) winner = threadIdx.x;  // expect: race-shared "by several threads"
    __syncthreads();
    out[threadIdx.x] = winner;
}

// The same value from everybody does no harm.
__global__ void any(const int* in, int* out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (in[threadIdx.x] > 10) found = 1;
    __syncthreads();
    out[threadIdx.x] = found;
}

int main() {
    int host[64];
    for (int i = 0; i < 64; ++i) host[i] = i;
    int *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    last_one<<<1, 32>>>(in, out);
    any<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
