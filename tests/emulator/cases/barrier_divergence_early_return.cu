// SPDX-License-Identifier: MIT
// Threads past the end return; two barriers follow, one bug.
#include <cuda_runtime.h>

__global__ void block_max(const int* in, int* out, int n) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= n) return;
    tile[t] = in[i];
    __syncthreads();  // expect: barrier-divergence "had returned"
    if (t < 16) tile[t] = max(tile[t], tile[t + 16]);
    __syncthreads();
    if (t == 0) out[blockIdx.x] = max(tile[0], tile[15]);
}

int main() {
    const int n = 96;
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, 2 * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    block_max<<<2, 64>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
