// SPDX-License-Identifier: MIT
// Two warps take two barriers in opposite order.
#include <cuda_runtime.h>

__global__ void crossed(int* out) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");  // expect: deadlock "line"
        out[threadIdx.x] = 1;
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[threadIdx.x] = 2;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    crossed<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
