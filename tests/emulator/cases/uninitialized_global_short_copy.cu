// SPDX-License-Identifier: MIT
// As many bytes copied as there are elements: three quarters are missing.
#include <vector>

#include <cuda_runtime.h>

__global__ void twice(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];  // expect: uninitialized-global "`in[250]` is read"
}

int main() {
    const int n = 1000;
    std::vector<float> host(n, 1.0f);
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(in, host.data(), n, cudaMemcpyHostToDevice);
    twice<<<4, 256>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
