// Mutant: nobody asks whether the launch of increment was refused.
// verdict: fails "task 2: a refused launch is an exception"
// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
// Start with README.md in this directory; `make 01` checks this file.
#include "indexing_1d.h"

// One thread per element, and exactly as many threads as elements.
__global__ void zero_out_kernel(float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 0.0f;
}

void zero_out(float* d_out, int blocks, int threads) {
    zero_out_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void inc(int* d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    d[i] += 1;
}
void increment(int* d, int blocks, int threads) {
    inc<<<blocks, threads>>>(d);
}

__global__ void iota_kernel(int* d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    d[i] = i;
}
void iota(int* d, int blocks, int threads) {
    iota_kernel<<<blocks, threads>>>(d);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void rev(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int n = gridDim.x * blockDim.x;
    out[i] = in[n - 1 - i];
}
void reverse(const int* in, int* out, int blocks, int threads) {
    rev<<<blocks, threads>>>(in, out);
    CUDA_CHECK(cudaGetLastError());
}
