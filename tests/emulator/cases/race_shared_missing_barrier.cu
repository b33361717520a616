// SPDX-License-Identifier: MIT
// An array is reversed through shared memory, and nobody waits for the stores.
#include <cuda_runtime.h>

__global__ void reverse(int* data) {
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = data[t];
    data[t] = tile[255 - t];  // expect: race-shared "is read while another thread"
}

int main() {
    int* data;
    cudaMalloc(&data, 256 * sizeof(int));
    cudaMemset(data, 0, 256 * sizeof(int));
    reverse<<<1, 256>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
