// SPDX-License-Identifier: MIT
// Threads of a warp and of a block that exchange values through global memory without waiting.
#include <cuda_runtime.h>

__global__ void exchange(int* x, int* out) {
    int t = threadIdx.x;
    x[t] = t;
    out[t] = x[t ^ 1];  // expect: race-global "is read while another thread"
}

__global__ void scan_in_place(int* x) {
    int t = threadIdx.x;
    for (int step = 1; step < 64; step *= 2) {
        int left = t >= step ? x[t - step] : 0;
        x[t] += left;  // expect: race-global
        __syncthreads();
    }
}

int main() {
    int *x, *out;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    exchange<<<1, 64>>>(x, out);
    scan_in_place<<<1, 64>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
}
