// SPDX-License-Identifier: MIT
// One kernel uses instructions that nobody has, or that only newer devices have; the other is fine.
#include <cstdio>

__global__ void odd(int* out) {
    int r;
    asm volatile("frobnicate.s32 %0, 1;" : "=r"(r));
    asm volatile("wgmma.fence.sync.aligned;");
    out[threadIdx.x] = r;
}
__global__ void good(int* out) {
    out[0] = 1;
}

int main() {
    int *p = nullptr, h = 0;
    cudaMalloc(&p, 128);
    good<<<1, 1>>>(p);
    cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);
    std::printf("good %d\n", h);
    odd<<<1, 32>>>(p);
    std::printf("odd %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaFree(p);
}
