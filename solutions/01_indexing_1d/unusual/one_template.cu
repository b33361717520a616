// Unusual: One kernel template takes the work as a function object; the four functions only say
// what it is. A grid of rows, one block each, does the same as a grid along x.
// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
// Start with README.md in this directory; `make 01` checks this file.
#include "indexing_1d.h"

template <class Work>
__global__ void for_each_kernel(Work work) {
    const int block = blockIdx.y * gridDim.x + blockIdx.x;
    work(block * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x));
}

template <class Work>
void for_each(int blocks, int threads, Work work) {
    for_each_kernel<<<dim3(1, blocks), threads>>>(work);
    CUDA_CHECK(cudaGetLastError());
}

struct Zero {
    float* out;
    __device__ void operator()(int i) const { out[i] = 0.0f; }
};
struct Increment {
    int* data;
    __device__ void operator()(int i) const { data[i] = data[i] + 1; }
};
struct Iota {
    int* out;
    __device__ void operator()(int i) const { out[i] = i; }
};
struct Reverse {
    const int* in;
    int* out;
    int last;
    __device__ void operator()(int i) const { out[last - i] = in[i]; }
};

void zero_out(float* d_out, int blocks, int threads) {
    for_each(blocks, threads, Zero{d_out});
}

void increment(int* d_data, int blocks, int threads) {
    for_each(blocks, threads, Increment{d_data});
}

void iota(int* d_out, int blocks, int threads) {
    for_each(blocks, threads, Iota{d_out});
}

void reverse(const int* d_in, int* d_out, int blocks, int threads) {
    for_each(blocks, threads, Reverse{d_in, d_out, blocks * threads - 1});
}
