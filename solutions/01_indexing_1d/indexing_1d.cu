// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
// Start with README.md in this directory; `make 01` checks this file.
#include "indexing_1d.h"

// One thread per element, and exactly as many threads as elements.
__global__ void zero_out_kernel(float* out) {
    // TODO 1 (about 2 lines): find the element of this thread and set it to 0.
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 0.0f;
    // END 1
}

void zero_out(float* d_out, int blocks, int threads) {
    zero_out_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

// TODO 2 (about 8 lines): replace the next line by a kernel that adds 1 to this thread's element,
// and a function `increment` that launches it. zero_out above is your model.
//| void increment(int*, int, int) {}
__global__ void increment_kernel(int* data) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += 1;
}

void increment(int* d_data, int blocks, int threads) {
    increment_kernel<<<blocks, threads>>>(d_data);
    CUDA_CHECK(cudaGetLastError());
}
// END 2

// TODO 3 (about 8 lines): replace the next line by a kernel that stores each element's own index,
// and a function `iota` that launches it.
//| void iota(int*, int, int) {}
__global__ void iota_kernel(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

void iota(int* d_out, int blocks, int threads) {
    iota_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}
// END 3

// TODO 4 (about 9 lines): replace the next line by a kernel that reverses the whole array, not
// each block's part of it, and a function `reverse` that launches it.
//| void reverse(const int*, int*, int, int) {}
__global__ void reverse_kernel(const int* in, int* out) {
    const int n = gridDim.x * blockDim.x;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[n - 1 - i];
}

void reverse(const int* d_in, int* d_out, int blocks, int threads) {
    reverse_kernel<<<blocks, threads>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
}
// END 4
