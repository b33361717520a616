// SPDX-License-Identifier: MIT
// Memory of a pool that does not share it with the other device: enabling peer access does not
// reach pools.
// env: EMULATOR_DEVICES=2
#include <cuda_runtime.h>

__global__ void twice(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: error invalid-address "no access"
    if (i < n) out[i] = in[i] * 2;
}

int main() {
    const int n = 1000;
    cudaSetDevice(0);
    int *from_pool, *own;
    cudaMallocAsync(&from_pool, n * sizeof(int), 0);
    cudaMemsetAsync(from_pool, 1, n * sizeof(int), 0);
    cudaStreamSynchronize(0);
    cudaSetDevice(1);
    cudaDeviceEnablePeerAccess(0, 0);
    cudaMalloc(&own, n * sizeof(int));
    twice<<<4, 256>>>(from_pool, own, n);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(own);
    cudaSetDevice(0);
    cudaFreeAsync(from_pool, 0);
    cudaStreamSynchronize(0);
    return error == cudaSuccess ? 1 : 0;
}
