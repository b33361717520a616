// SPDX-License-Identifier: MIT
// The tail of 1002 floats is read as a float4 that reaches over the end.
#include <cuda_runtime.h>

__global__ void sum4(const float* in, float* out, int quads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    // expect: out-of-bounds-global "`in[1000]` to `in[1003]` are read at once"
    float4 v = reinterpret_cast<const float4*>(in)[i];
    out[i] = v.x + v.y + v.z + v.w;
}

int main() {
    const int n = 1002, quads = (n + 3) / 4;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, quads * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    sum4<<<1, 256>>>(in, out, quads);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
