// SPDX-License-Identifier: MIT
// Deep enough, with a kilobyte in every call, to fill the default stack.
#include <cuda_runtime.h>

__device__ __noinline__ int descend(int depth, int seed) {
    int notes[256];
    for (int k = 0; k < 256; ++k) notes[k] = seed + k;
    if (depth == 0) return notes[seed & 255];
    return notes[depth & 255] + descend(depth - 1, notes[seed & 255]);  // expect: stack-overflow
}

__global__ void kernel(int* out, int depth) {
    out[threadIdx.x] = descend(depth, threadIdx.x);
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    kernel<<<1, 32>>>(out, 100);
    cudaDeviceSynchronize();
    cudaFree(out);
}
