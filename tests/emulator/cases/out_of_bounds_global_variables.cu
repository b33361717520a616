// SPDX-License-Identifier: MIT
// Overruns of module variables, and of an array behind a pointer in a struct.
#include <cuda_runtime.h>

__device__ int table[8];
__constant__ float weights[4] = {1, 2, 3, 4};

struct View {
    int rows;
    float* cells;
};

__global__ void look(View view, int* out, int shift) {
    int i = threadIdx.x;
    // expect: out-of-bounds-global "`table[8]` is read, but `table` has 8 elements (0 to 7)"
    int sum = table[i + shift];
    // expect: out-of-bounds-global "`weights[4]` is read, but `weights` has 4 elements (0 to 3)"
    float factor = weights[i];
    view.cells[i + view.rows * 2] = factor;  // expect: out-of-bounds-global
    out[i] = sum;
}

int main() {
    float* cells;
    int* out;
    cudaMalloc(&cells, 16 * sizeof(float));
    cudaMalloc(&out, 8 * sizeof(int));
    look<<<1, 8>>>(View{5, cells}, out, 1);
    cudaDeviceSynchronize();
    cudaFree(cells);
    cudaFree(out);
}
