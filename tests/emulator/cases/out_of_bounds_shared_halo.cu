// SPDX-License-Identifier: MIT
// A halo of one cell on both sides, but room for one side only.
#include <cuda_runtime.h>

constexpr int kBlock = 64;

__global__ void smooth(const float* in, float* out, int n) {
    __shared__ float cells[kBlock + 1];
    int t = threadIdx.x, i = blockIdx.x * kBlock + t;
    cells[t + 1] = in[i];
    if (t == 0) cells[0] = i > 0 ? in[i - 1] : 0.0f;
    // expect: out-of-bounds-shared "`cells[65]` is written"
    if (t == kBlock - 1) cells[t + 2] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    float right = t + 2 <= kBlock ? cells[t + 2] : 0.0f;
    out[i] = cells[t] + cells[t + 1] + right;
}

int main() {
    const int n = 4 * kBlock;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    smooth<<<4, kBlock>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
