// SPDX-License-Identifier: MIT
// Volatile shared memory that is right: `__syncwarp` in between, flags between warps, own cells.
// also: -G
#include <cuda_runtime.h>

__global__ void reduction(int* out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 32) {
        int v = s[t];
        for (int half = 32; half > 0; half /= 2) {
            v += s[t + half];
            __syncwarp();
            s[t] = v;
            __syncwarp();
        }
    }
    if (t == 0) out[0] = s[0];
}

// Warp 0 tells warp 1 that its part is done.
__global__ void flag(int* out) {
    __shared__ volatile int ready;
    __shared__ int data[32];
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {
        data[t] = t;
        __threadfence_block();
        __syncwarp();
        if (t == 0) ready = 1;
    } else {
        while (ready == 0) {
        }
        __threadfence_block();
        out[t - 32] = data[63 - t];
    }
}

__global__ void own_cell(int* out) {
    __shared__ volatile int s[32];
    int t = threadIdx.x;
    s[t] = 0;
    for (int i = 0; i < 4; ++i) s[t] = s[t] + i;
    out[t] = s[t];
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    reduction<<<1, 64>>>(out);
    flag<<<1, 64>>>(out);
    own_cell<<<1, 32>>>(out);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(out);
    return good ? 0 : 1;
}
