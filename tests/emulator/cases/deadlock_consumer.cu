// SPDX-License-Identifier: MIT
// One warp waits for the producer at barrier 1, the others for everybody at barrier 0.
#include <cuda_runtime.h>

__global__ void consume(int* out, int produced) {
    __shared__ int slot[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp == 0 && produced) {
        slot[lane] = lane;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
    if (warp == 1) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[lane] = produced ? slot[lane] : -1;
    }
    __syncthreads();  // expect: deadlock "the kernel cannot go on"
    if (warp == 2) out[lane] += 1;
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    consume<<<1, 96>>>(out, 0);
    cudaDeviceSynchronize();
    cudaFree(out);
}
