// SPDX-License-Identifier: MIT
// A tree reduction without the barrier inside the loop.
#include <cuda_runtime.h>

__global__ void block_sum(const float* in, float* out, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
#pragma unroll 1
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];  // expect: race-shared
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 1000 * sizeof(float));
    cudaMalloc(&out, 4 * sizeof(float));
    cudaMemset(in, 0, 1000 * sizeof(float));
    block_sum<<<4, 256>>>(in, out, 1000);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
