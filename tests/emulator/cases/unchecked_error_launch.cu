// SPDX-License-Identifier: MIT
// The launch was refused, and nobody asked.
#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    out[threadIdx.x] = 1;
}

int main() {
    int* out;
    cudaMalloc(&out, 2048 * sizeof(int));
    kernel<<<1, 2048>>>(out);  // expect: invalid-launch, unchecked-error
    cudaFree(out);
}
