// SPDX-License-Identifier: MIT
// Lane 0 is asked for its value although only the upper half takes part.
#include <cuda_runtime.h>

__global__ void broadcast(int* out) {
    int lane = threadIdx.x;
    if (lane >= 16) {
        // expect: warp-mask "from a lane that does not take part"
        out[lane - 16] = __shfl_sync(0xffff0000, lane * lane, 0);
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 16 * sizeof(int));
    broadcast<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
