// SPDX-License-Identifier: MIT
// Numbers in a stream of bytes, at places that suit nobody.
#include <cuda_runtime.h>

__global__ void parse(const unsigned char* stream, double* out) {
    // expect: misaligned
    out[threadIdx.x] = *reinterpret_cast<const double*>(stream + 1 + 9 * threadIdx.x);
}

int main() {
    unsigned char* stream;
    double* out;
    cudaMalloc(&stream, 4 * 9 + 1);
    cudaMalloc(&out, 4 * sizeof(double));
    cudaMemset(stream, 0, 4 * 9 + 1);
    parse<<<1, 4>>>(stream, out);
    cudaDeviceSynchronize();
    cudaFree(stream);
    cudaFree(out);
}
