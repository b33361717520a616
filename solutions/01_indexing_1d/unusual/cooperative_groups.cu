// Unusual: Cooperative groups number the threads of the whole grid.
// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
// Start with README.md in this directory; `make 01` checks this file.
#include "indexing_1d.h"

#include <cooperative_groups.h>

// One thread per element, and exactly as many threads as elements.
__global__ void zero_out_kernel(float* out) {
    const int i = static_cast<int>(cooperative_groups::this_grid().thread_rank());
    out[i] = 0.0f;
}

void zero_out(float* d_out, int blocks, int threads) {
    zero_out_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void increment_kernel(int* data) {
    const int i = static_cast<int>(cooperative_groups::this_grid().thread_rank());
    data[i] += 1;
}

void increment(int* d_data, int blocks, int threads) {
    increment_kernel<<<blocks, threads>>>(d_data);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void iota_kernel(int* out) {
    const int i = static_cast<int>(cooperative_groups::this_grid().thread_rank());
    out[i] = i;
}

void iota(int* d_out, int blocks, int threads) {
    iota_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void reverse_kernel(const int* in, int* out) {
    const int n = static_cast<int>(cooperative_groups::this_grid().size());
    const int i = static_cast<int>(cooperative_groups::this_grid().thread_rank());
    out[i] = in[n - 1 - i];
}

void reverse(const int* d_in, int* d_out, int blocks, int threads) {
    reverse_kernel<<<blocks, threads>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
}
