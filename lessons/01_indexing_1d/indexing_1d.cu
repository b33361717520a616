// SPDX-License-Identifier: MIT
// Lesson 01, indexing in one dimension: every thread finds the one element that is its own.
// Start with README.md in this directory; `make 01` checks this file.
#include "indexing_1d.h"

// One thread per element, and exactly as many threads as elements.
__global__ void zero_out_kernel(float* out) {
    // TODO 1 (about 2 lines): find the element of this thread and set it to 0.
    // END 1
}

void zero_out(float* d_out, int blocks, int threads) {
    zero_out_kernel<<<blocks, threads>>>(d_out);
    CUDA_CHECK(cudaGetLastError());
}

// TODO 2 (about 8 lines): replace the next line by a kernel that adds 1 to this thread's element,
// and a function `increment` that launches it. zero_out above is your model.
void increment(int*, int, int) {}
// END 2

// TODO 3 (about 8 lines): replace the next line by a kernel that stores each element's own index,
// and a function `iota` that launches it.
void iota(int*, int, int) {}
// END 3

// TODO 4 (about 9 lines): replace the next line by a kernel that reverses the whole array, not
// each block's part of it, and a function `reverse` that launches it.
void reverse(const int*, int*, int, int) {}
// END 4
