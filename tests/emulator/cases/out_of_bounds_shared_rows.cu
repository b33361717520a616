// SPDX-License-Identifier: MIT
// Rows and columns swapped in a tile that is not square.
#include <cuda_runtime.h>

__global__ void turn(float* data) {
    __shared__ float tile[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    // expect: out-of-bounds-shared "`tile[8][0]` is written, but `tile` has 8 x 32 elements"
    tile[x][y] = data[y * 32 + x];
    __syncthreads();
    data[y * 32 + x] = tile[y][x % 8];
}

int main() {
    float* data;
    cudaMalloc(&data, 256 * sizeof(float));
    cudaMemset(data, 0, 256 * sizeof(float));
    turn<<<1, dim3(32, 8)>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
