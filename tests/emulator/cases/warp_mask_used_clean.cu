// SPDX-License-Identifier: MIT
// Trees and scans over a part of a warp: what the upper half gets is nobody's, and nobody uses it.
// also: -G
#include <cuda_runtime.h>

// twin: warp-mask
__global__ void tree(int* out) {
    int t = threadIdx.x;
    if (t < 16) {
        int v = t;
        for (int step = 8; step > 0; step /= 2) v += __shfl_down_sync(0xffff, v, step);
        if (t == 0) out[0] = v;
    }
}

__global__ void scan(int* out) {
    int t = threadIdx.x;
    if (t >= 16) {
        int v = t;
        for (int step = 1; step < 16; step *= 2) {
            int before = __shfl_up_sync(0xffff0000u, v, step);
            if (t - 16 >= step) v += before;
        }
        out[t] = v;
    }
}

__global__ void segments(double* out) {
    double v = threadIdx.x;
    for (int step = 4; step > 0; step /= 2) v += __shfl_down_sync(~0u, v, step, 8);
    if (threadIdx.x % 8 == 0) out[threadIdx.x / 8] = v;
}

int main() {
    int* out;
    double* sums;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&sums, 4 * sizeof(double));
    tree<<<1, 32>>>(out);
    scan<<<1, 32>>>(out);
    segments<<<1, 32>>>(sums);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(out);
    cudaFree(sums);
    return good ? 0 : 1;
}
