// Mutant: the formula of the index has block and thread in each other's place.
// verdict: fails "task 1: zeroes 5120"
// verdict: fails "task 1: zeroes with any"
// verdict: finding out-of-bounds-global line @here
// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
#include "indexing_1d.h"

// One thread per element, and exactly as many threads as elements.
__global__ void zero_out_kernel(float* out) {
    const int i = threadIdx.x * blockDim.x + blockIdx.x;
    out[i] = 0.0f;  // <- here
}

void zero_out(float* d_out, int blocks, int threads) {
    zero_out_kernel<<<blocks, threads>>>(d_out);
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
