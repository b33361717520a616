// SPDX-License-Identifier: MIT
// A condition that one element does not meet.
#include <cassert>

#include <cuda_runtime.h>

__global__ void root(const float* in, float* out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    assert(in[i] >= 0.0f && "no negative input");  // expect: assert "in[i] >= 0.0f"
    out[i] = sqrtf(in[i]);
}

int main() {
    const float host[4] = {1, 4, -9, 16};
    float *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    root<<<1, 32>>>(in, out, 4);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
