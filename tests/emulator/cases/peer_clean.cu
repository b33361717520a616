// SPDX-License-Identifier: MIT
// Peer access that was enabled, and copies between devices, which need no access.
// env: EMULATOR_DEVICES=2
#include <cuda_runtime.h>

__global__ void fill(float* out) {
    out[threadIdx.x] = 1;
}

int main() {
    float *there = nullptr, *here = nullptr;
    cudaSetDevice(1);
    cudaMalloc(&there, 32 * sizeof(float));
    cudaSetDevice(0);
    cudaMalloc(&here, 32 * sizeof(float));
    int can = 0;
    cudaDeviceCanAccessPeer(&can, 0, 1);
    cudaDeviceEnablePeerAccess(1, 0);
    fill<<<1, 32>>>(there);
    cudaDeviceSynchronize();
    cudaDeviceDisablePeerAccess(1);
    cudaMemcpyPeer(here, 0, there, 1, 32 * sizeof(float));
    float back[32] = {};
    cudaMemcpy(back, here, sizeof back, cudaMemcpyDeviceToHost);
    cudaFree(here);
    cudaSetDevice(1);
    cudaFree(there);
    return can && back[31] == 1 ? 0 : 1;
}
