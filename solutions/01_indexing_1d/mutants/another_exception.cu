// Mutant: a refused launch becomes an exception, but not the promised one.
// verdict: fails "task 2: a refused launch is an exception"
// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
// Start with README.md in this directory; `make 01` checks this file.
#include "indexing_1d.h"
#include <stdexcept>

// One thread per element, and exactly as many threads as elements.
__global__ void zero_out_kernel(float* out) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    out[idx] = 0;
}

void zero_out(float* d_out, int blocks, int threads) {
    zero_out_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void increment_kernel(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x]++;
}
void increment(int* d_data, int blocks, int threads) {
    increment_kernel<<<blocks, threads>>>(d_data);
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("launch");
}

__global__ void iota_kernel(int* out) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    out[idx] = idx;
}
void iota(int* d_out, int blocks, int threads) {
    iota_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void reverse_kernel(const int* in, int* out) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int n = gridDim.x * blockDim.x;
    out[idx] = in[n - 1 - idx];
}
void reverse(const int* d_in, int* d_out, int blocks, int threads) {
    reverse_kernel<<<blocks, threads>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
}
