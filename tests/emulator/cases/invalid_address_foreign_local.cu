// SPDX-License-Identifier: MIT
// A local array lives in each thread's own memory: its address means nothing to another thread.
#include <cuda_runtime.h>

__global__ void publish(int* out) {
    __shared__ int* handed;
    int mine[8];
    for (int i = 0; i < 8; ++i) mine[i] = threadIdx.x * 8 + i;
    if (threadIdx.x == 0) handed = mine;
    __syncthreads();
    // expect: invalid-address "local variable of thread (0,0,0)"
    out[threadIdx.x] = handed[threadIdx.x % 8] + mine[(threadIdx.x + 3) % 8];
}

__global__ void shuffle(int* out) {
    int mine[8];
    for (int i = 0; i < 8; ++i) mine[i] = threadIdx.x * 8 + i;
    const auto address = reinterpret_cast<unsigned long long>(&mine[out[threadIdx.x] & 7]);
    const auto theirs = __shfl_xor_sync(~0u, address, 1);
    // expect: invalid-address "reads through the address"
    out[threadIdx.x] = *reinterpret_cast<int*>(theirs);
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(out, 0, 64 * sizeof(int));
    publish<<<1, 64>>>(out);
    shuffle<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
