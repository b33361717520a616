// SPDX-License-Identifier: MIT
// A digit below zero indexes the counters of one thread.
#include <cuda_runtime.h>

__global__ void count(const int* digits, int n, int* out) {
    int counts[10];
    for (int d = 0; d < 10; ++d) counts[d] = 0;
    for (int i = 0; i < n; ++i) counts[digits[i]] += 1;  // expect: out-of-bounds-local
    for (int d = 0; d < 10; ++d) out[d] = counts[d];
}

int main() {
    const int host[5] = {3, 1, -40, 9, 3};
    int *digits, *out;
    cudaMalloc(&digits, sizeof host);
    cudaMalloc(&out, 10 * sizeof(int));
    cudaMemcpy(digits, host, sizeof host, cudaMemcpyHostToDevice);
    count<<<1, 1>>>(digits, 5, out);
    cudaDeviceSynchronize();
    cudaFree(digits);
    cudaFree(out);
}
