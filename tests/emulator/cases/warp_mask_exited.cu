// SPDX-License-Identifier: MIT
// The threads past the end have returned, and the last warp counts on them.
#include <cuda_runtime.h>

__global__ void warp_sums(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int value = in[i];
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_down_sync(0xffffffff, value, step);  // expect: warp-mask "returned"
    }
    if (i % 32 == 0) out[i / 32] = value;
}

int main() {
    const int n = 40;
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, 2 * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    warp_sums<<<1, 64>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
