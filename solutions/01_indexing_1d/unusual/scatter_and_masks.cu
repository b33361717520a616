// Unusual: reverse reads in order and writes mirrored, the index is built by fused multiply and add
// in unsigned arithmetic, and increment goes through a pointer.
// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
// Start with README.md in this directory; `make 01` checks this file.
#include "indexing_1d.h"

// One thread per element, and exactly as many threads as elements.
__global__ void zero_out_kernel(float* out) {
    const unsigned i = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
    out[i] = 0.0f;
}

void zero_out(float* d_out, int blocks, int threads) {
    zero_out_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void increment_kernel(int* data) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* mine = data + i;
    ++*mine;
}

void increment(int* d_data, int blocks, int threads) {
    increment_kernel<<<blocks, threads>>>(d_data);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void iota_kernel(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

void iota(int* d_out, int blocks, int threads) {
    iota_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void reverse_kernel(const int* in, int* out) {
    const int n = gridDim.x * blockDim.x;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[n - 1 - i] = in[i];
}

void reverse(const int* d_in, int* d_out, int blocks, int threads) {
    reverse_kernel<<<blocks, threads>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
}
