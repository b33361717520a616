// SPDX-License-Identifier: MIT
// cudaMalloc is told to leave the row's address in device memory, which only kernels can write.
#include <cuda_runtime.h>

int main() {
    const int n = 4;
    float *rows[n], **table;
    cudaMalloc(&table, n * sizeof(float*));
    // twin: host-dereference
    for (int i = 0; i < n; ++i) cudaMalloc(&rows[i], 64);
    cudaMemcpy(table, rows, sizeof rows, cudaMemcpyHostToDevice);
    for (int i = 0; i < n; ++i) cudaFree(rows[i]);
    for (int i = 0; i < n; ++i)
        cudaMalloc(&table[i], 64);  // expect: host-dereference "host code writes"
    cudaFree(table);
}
