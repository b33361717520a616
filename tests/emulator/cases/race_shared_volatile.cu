// SPDX-License-Identifier: MIT
// The warp-synchronous style from before Volta: `volatile` in place of `__syncwarp`.
// also: -G
#include <cuda_runtime.h>

__device__ void warp_sum(volatile int* s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];  // expect: error race-shared
    s[t] += s[t + 8];   // expect: race-shared
}

__global__ void reduction(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 32) warp_sum(s, t);
    if (t == 0) out[0] = s[0];
}

__global__ void scan(int* out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = 0;
    s[t + 32] = out[t];
    for (int step = 1; step < 32; step *= 2)
        s[t + 32] = s[t + 32] + s[t + 32 - step];  // expect: race-shared
    out[t] = s[t + 32];
}

__global__ void neighbour(int* out) {
    __shared__ volatile int s[32];
    s[threadIdx.x] = out[threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x ^ 1];  // expect: race-shared "is read while another thread"
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(out, 0, 64 * sizeof(int));
    reduction<<<1, 64>>>(out);
    scan<<<1, 32>>>(out);
    neighbour<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
