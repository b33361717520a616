// SPDX-License-Identifier: MIT
// A function is told that the array of its caller is longer than it is.
#include <cuda_runtime.h>

__device__ __noinline__ void clear(float* values, int count) {
    for (int k = 0; k < count; ++k) values[k] = 0.0f;  // expect: out-of-bounds-local
}

__global__ void kernel(float* out, int count, int pick) {
    float values[4];
    clear(values, count);
    out[threadIdx.x] = values[pick];
}

int main() {
    float* out;
    cudaMalloc(&out, 32 * sizeof(float));
    kernel<<<1, 32>>>(out, 6, 2);
    cudaDeviceSynchronize();
    cudaFree(out);
}
