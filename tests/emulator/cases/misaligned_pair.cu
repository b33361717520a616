// SPDX-License-Identifier: MIT
// A pair of halves from an odd index, and an atomic on a wrongly aligned word.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void shifted(const __half* in, __half2* out, int shift) {
    // expect: misaligned
    out[threadIdx.x] = *reinterpret_cast<const __half2*>(in + 2 * threadIdx.x + shift);
}

int main() {
    __half* in;
    __half2* out;
    cudaMalloc(&in, 128 * sizeof(__half));
    cudaMalloc(&out, 32 * sizeof(__half2));
    cudaMemset(in, 0, 128 * sizeof(__half));
    // twin: misaligned
    shifted<<<1, 32>>>(in, out, 2);
    shifted<<<1, 32>>>(in, out, 1);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
