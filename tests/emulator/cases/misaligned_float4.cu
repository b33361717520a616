// SPDX-License-Identifier: MIT
// A row of an odd length is read four floats at a time.
#include <cuda_runtime.h>

__global__ void copy_row(const float* in, float4* out, int row, int width) {
    const float4* line = reinterpret_cast<const float4*>(in + row * width);
    // expect: misaligned "16 bytes are read at once from `in[33]`"
    out[threadIdx.x] = line[threadIdx.x];
}

int main() {
    float* in;
    float4* out;
    cudaMalloc(&in, 33 * 10 * sizeof(float));
    cudaMalloc(&out, 8 * sizeof(float4));
    cudaMemset(in, 0, 33 * 10 * sizeof(float));
    copy_row<<<1, 8>>>(in, out, 1, 33);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
