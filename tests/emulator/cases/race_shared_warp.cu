// SPDX-License-Identifier: MIT
// One warp, no barrier needed, it was believed: lanes read each other's words without __syncwarp.
#include <cuda_runtime.h>

__global__ void warp_sum(const int* in, int* out) {
    __shared__ volatile int unused[1];
    __shared__ int tile[64];
    int lane = threadIdx.x;
    tile[lane] = in[lane];
    tile[lane + 32] = 0;
    __syncwarp();
    int other = tile[lane + 16];
    __syncwarp();
    tile[lane] += other;
    int last = tile[lane + 8];  // expect: race-shared "is read while another thread"
    out[lane] = tile[lane] + last;
    if (lane == 0) unused[0] = 1;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    warp_sum<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
