// SPDX-License-Identifier: MIT
// The recursion does not get smaller. (What follows the call keeps it from becoming a loop.)
#include <cuda_runtime.h>

__device__ __noinline__ int sum_to(int n, const int* step) {
    if (n == 0) return 0;
    int rest = sum_to(n - *step, step);  // expect: stack-overflow
    return n + (rest ^ rest / 2);
}

__global__ void kernel(const int* step, int* out) {
    out[threadIdx.x] = sum_to(10, step);
}

int main() {
    int *step, *out;
    cudaMalloc(&step, sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(step, 0, sizeof(int));
    kernel<<<1, 32>>>(step, out);
    cudaDeviceSynchronize();
    cudaFree(step);
    cudaFree(out);
}
