// SPDX-License-Identifier: MIT
// The full mask in a branch that half of the warp takes.
#include <cuda_runtime.h>

__global__ void sum_half(const int* in, int* out) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) {
        value += __shfl_xor_sync(0xffffffff, value, 16);  // expect: warp-mask
        out[threadIdx.x] = value;
    }
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 16 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    sum_half<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
