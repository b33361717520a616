// SPDX-License-Identifier: MIT
// The name of a device variable is passed as if it were a device pointer.
#include <cuda_runtime.h>

__constant__ float weights[8];
static __device__ int counters[4];

__global__ void read_them(float* out) {
    out[threadIdx.x] = weights[threadIdx.x] + float(counters[threadIdx.x % 4]);
}

int main() {
    const float host[8] = {};
    int back[4];
    float* out;
    cudaMalloc(&out, sizeof host);
    // expect: invalid-copy
    cudaMemcpy(weights, host, sizeof host, cudaMemcpyHostToDevice);
    // expect: invalid-copy
    cudaMemcpy(back, &counters[1], sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpyToSymbol(weights, host, sizeof host);
    read_them<<<1, 8>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
