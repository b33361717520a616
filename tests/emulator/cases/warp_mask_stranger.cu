// SPDX-License-Identifier: MIT
// Lane 31 is not in the mask that it gives.
#include <cuda_runtime.h>

__global__ void vote(const int* in, int* out) {
    // expect: warp-mask "lane 31 takes part in the vote"
    int any = __any_sync(0x7fffffff, in[threadIdx.x] > 0);
    out[threadIdx.x] = any;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    vote<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
