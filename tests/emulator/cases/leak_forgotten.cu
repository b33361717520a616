// SPDX-License-Identifier: MIT
// One of two arrays is freed.
#include <cuda_runtime.h>

int main() {
    float *in, *out;
    cudaMalloc(&in, 1000);
    cudaMalloc(&out, 2000);  // expect: leak "2000 bytes"
    cudaFree(in);
}
