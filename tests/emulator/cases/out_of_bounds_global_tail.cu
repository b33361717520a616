// SPDX-License-Identifier: MIT
// No bounds check: 1024 threads for 1000 elements.
#include <cuda_runtime.h>

__global__ void twice(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: out-of-bounds-global "`in[1000]` is read, but `in` has 1000 elements (0 to 999)"
    float x = in[i];
    // expect: out-of-bounds-global "`out[1000]` is written, but `out` has 1000 elements (0 to 999)"
    out[i] = 2 * x;
}

int main() {
    const int n = 1000;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    twice<<<4, 256>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
