// SPDX-License-Identifier: MIT
// `<=` over a thread's own array.
#include <cuda_runtime.h>

__global__ void running(const int* in, int* out, int depth) {
    int window[8];
    for (int k = 0; k <= depth; ++k) {
        window[k] = in[k] * int(threadIdx.x);  // expect: out-of-bounds-local
    }
    int sum = 0;
    for (int k = 0; k < depth; ++k) sum += window[(k * 3 + threadIdx.x) % 8];
    out[threadIdx.x] = sum;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 16 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(in, 1, 16 * sizeof(int));
    running<<<1, 32>>>(in, out, 8);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
