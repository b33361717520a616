// Unusual: Half of the blocks, at least one, step through the array: the launch shape is not what
// was given, the result is.
// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
// Start with README.md in this directory; `make 01` checks this file.
#include "indexing_1d.h"

// One thread per element, and exactly as many threads as elements.
__global__ void zero_out_kernel(float* out, int n) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = 0.0f;
}

void zero_out(float* d_out, int blocks, int threads) {
    zero_out_kernel<<<(blocks + 1) / 2, threads>>>(d_out, blocks * threads);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void increment_kernel(int* data) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += 1;
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
    out[i] = in[n - 1 - i];
}

void reverse(const int* d_in, int* d_out, int blocks, int threads) {
    reverse_kernel<<<blocks, threads>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
}
