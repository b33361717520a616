// SPDX-License-Identifier: MIT
// The kernel failed while it ran, and the program ends without checking for the error.
#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    if (threadIdx.x == 3) __trap();  // expect: assert
    out[threadIdx.x] = 1;
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    kernel<<<1, 32>>>(out);  // expect: unchecked-error
    cudaFree(out);
}
