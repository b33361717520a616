// SPDX-License-Identifier: MIT
// A table on the device still points to a row that is gone.
#include <cuda_runtime.h>

__global__ void gather(int* const* rows, int* out) {
    int i = threadIdx.x;
    out[i] = rows[i][0];  // expect: use-after-free "has been freed"
}

int main() {
    int *rows[3], **table, *out;
    for (int*& row : rows) {
        cudaMalloc(&row, 64);
        cudaMemset(row, 0, 64);
    }
    cudaMalloc(&table, sizeof rows);
    cudaMalloc(&out, 3 * sizeof(int));
    cudaMemcpy(table, rows, sizeof rows, cudaMemcpyHostToDevice);
    cudaFree(rows[1]);
    gather<<<1, 3>>>(table, out);
    cudaDeviceSynchronize();
    cudaFree(rows[0]);
    cudaFree(rows[2]);
    cudaFree(table);
    cudaFree(out);
}
