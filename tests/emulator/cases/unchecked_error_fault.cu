// SPDX-License-Identifier: MIT
// The kernel failed while it ran, and the program ends without having waited for it.
#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    out[threadIdx.x] = 1;  // expect: out-of-bounds-global
}

__device__ int target[8];

int main() {
    int* out;
    cudaGetSymbolAddress(reinterpret_cast<void**>(&out), target);
    kernel<<<1, 32>>>(out);  // expect: unchecked-error
}
