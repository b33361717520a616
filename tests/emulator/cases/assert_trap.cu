// SPDX-License-Identifier: MIT
// A kernel that gives up by itself.
#include <cuda_runtime.h>

__global__ void kernel(const int* in, int* out) {
    if (in[threadIdx.x] == 0) __trap();  // expect: assert "`__trap()` was executed"
    out[threadIdx.x] = 100 / in[threadIdx.x];
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    kernel<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
