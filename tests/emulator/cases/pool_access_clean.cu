// SPDX-License-Identifier: MIT
// Clean: memory of a pool that another device uses, because the pool shares it; peer access is not
// enabled and would not matter.
// env: EMULATOR_DEVICES=2
#include <cstdio>
#include <cuda_runtime.h>

__global__ void twice(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * 2;
}

int main() {
    const int n = 1000;
    cudaSetDevice(0);
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    int *before, *after;
    cudaMallocAsync(&before, n * sizeof(int), s);  // sharing reaches what is there already
    cudaMemAccessDesc share = {};
    share.location.type = cudaMemLocationTypeDevice;
    share.location.id = 1;
    share.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemPoolSetAccess(pool, &share, 1);
    cudaMallocAsync(&after, n * sizeof(int), s);
    cudaMemsetAsync(before, 1, n * sizeof(int), s);
    cudaStreamSynchronize(s);
    cudaSetDevice(1);
    // twin: invalid-address
    twice<<<4, 256>>>(before, after, n);
    const bool right = cudaDeviceSynchronize() == cudaSuccess;
    int value = 0;
    cudaMemcpy(&value, after, sizeof value, cudaMemcpyDefault);
    cudaSetDevice(0);
    cudaFreeAsync(before, s);
    cudaFreeAsync(after, s);
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
    std::printf("%d\n", value);
    return right && value == 0x02020202 ? 0 : 1;
}
