// SPDX-License-Identifier: MIT
// Only the thread with the large input goes too deep.
#include <cuda_runtime.h>

__device__ __noinline__ unsigned int ackermann(unsigned int m, unsigned int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));  // expect: stack-overflow
}

__global__ void kernel(unsigned int* out) {
    out[threadIdx.x] = ackermann(threadIdx.x == 7 ? 3 : 1, threadIdx.x);
}

int main() {
    unsigned int* out;
    cudaMalloc(&out, 8 * sizeof(unsigned int));
    kernel<<<1, 8>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
