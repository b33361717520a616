// SPDX-License-Identifier: MIT
// The threads past the end write nothing into the tile, yet everybody adds up all of it.
#include <cuda_runtime.h>

__global__ void block_sum(const float* in, float* out, int n) {
    __shared__ float tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (i < n) tile[t] = in[i];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        // expect: uninitialized-shared "`tile[100]` is read"
        float other = t < half ? tile[t + half] : 0.0f;
        __syncthreads();
        if (t < half && t + blockIdx.x * 128 < n) tile[t] += other;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}

int main() {
    const int n = 100;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    block_sum<<<1, 128>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
