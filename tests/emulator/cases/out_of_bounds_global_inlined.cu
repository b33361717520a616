// SPDX-License-Identifier: MIT
// The access stands in a function that the compiler inlines: the line inside it is to blame.
#include <cuda_runtime.h>

__device__ inline int at(const int* grid, int x, int y, int width) {
    return grid[y * width + x];  // expect: out-of-bounds-global "`cells[-1]`"
}

__global__ void blur(const int* cells, int* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        out[y * width + x] = at(cells, x - 1, y, width) + at(cells, x, y, width);
    }
}

int main() {
    const int width = 50, height = 20;
    int *cells, *out;
    cudaMalloc(&cells, width * height * sizeof(int));
    cudaMalloc(&out, width * height * sizeof(int));
    cudaMemset(cells, 0, width * height * sizeof(int));
    blur<<<dim3(2, 2), dim3(32, 16)>>>(cells, out, width, height);
    cudaDeviceSynchronize();
    cudaFree(cells);
    cudaFree(out);
}
