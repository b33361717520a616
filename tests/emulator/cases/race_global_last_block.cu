// SPDX-License-Identifier: MIT
// The last block adds up what the others wrote, and no fence before the ticket makes it visible.
#include <cuda_runtime.h>

__device__ unsigned int tickets = 0;

__global__ void sum(const float* in, float* partial, float* out) {
    __shared__ bool last;
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = value;
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncwarp();
    if (last) {
        value = 0;
        if (threadIdx.x < gridDim.x)
            value = partial[threadIdx.x];  // expect: race-global "`partial[0]`"
        for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
        if (threadIdx.x == 0) *out = value;
    }
}

int main() {
    float *in, *partial, *out;
    cudaMalloc(&in, 512 * sizeof(float));
    cudaMalloc(&partial, 16 * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemset(in, 0, 512 * sizeof(float));
    sum<<<16, 32>>>(in, partial, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(partial);
    cudaFree(out);
}
