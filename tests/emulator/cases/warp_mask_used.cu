// SPDX-License-Identifier: MIT
// Values from lanes outside the mask matter once they are used.
// also: -G
#include <cuda_runtime.h>

__global__ void stored(int* out) {
    int t = threadIdx.x;
    if (t < 16) {
        int v = __shfl_down_sync(0xffff, t, 8);  // expect: warp-mask "lanes 8 to 15 use"
        out[t] = v;
    }
}

__global__ void compared(int* out) {
    int t = threadIdx.x;
    if (t >= 16) {
        int before = __shfl_up_sync(0xffff0000u, out[t], 4);  // expect: warp-mask
        if (before > 3) out[t] = 1;
    }
}

__global__ void indexed(int* out) {
    int t = threadIdx.x;
    if (t < 8) {
        int at = __shfl_down_sync(0xff, t, 2);  // expect: warp-mask
        out[32 + t + (at & 8)] = t;
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(out, 0, 64 * sizeof(int));
    stored<<<1, 32>>>(out);
    compared<<<1, 32>>>(out);
    indexed<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
