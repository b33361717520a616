// SPDX-License-Identifier: MIT
// 256 elements of shared memory for a block of 320 threads; `guard` lies behind it.
#include <cuda_runtime.h>

__global__ void reverse(int* data) {
    __shared__ int tile[256];
    __shared__ int guard[256];
    int t = threadIdx.x;
    if (t < 256) guard[t] = -1;
    // expect: out-of-bounds-shared "`tile[256]` is written, but `tile` has 256 elements (0 to 255)"
    tile[t] = data[t];
    __syncthreads();
    if (t < 256) data[t] = tile[255 - t] + guard[t];
}

int main() {
    int* data;
    cudaMalloc(&data, 320 * sizeof(int));
    cudaMemset(data, 0, 320 * sizeof(int));
    reverse<<<1, 320>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
