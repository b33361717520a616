// SPDX-License-Identifier: MIT
// Local arrays used to their full size, passed to functions, and in recursive calls.
#include <cuda_runtime.h>

// twin: out-of-bounds-local
__device__ __noinline__ void sort(int* values, int count) {
    for (int i = 1; i < count; ++i) {
        for (int k = i; k > 0 && values[k - 1] > values[k]; --k) {
            int keep = values[k];
            values[k] = values[k - 1];
            values[k - 1] = keep;
        }
    }
}

// twin: out-of-bounds-local, stack-overflow
__device__ __noinline__ int depth_first(int depth, int seed) {
    int path[4];
    for (int k = 0; k < 4; ++k) path[k] = seed * (k + 1);
    if (depth == 0) return path[seed & 3];
    return path[depth & 3] + depth_first(depth - 1, path[(seed + depth) & 3] & 15);
}

__global__ void kernel(const int* in, int* out, int n) {
    int mine[9];
    for (int k = 0; k < n; ++k) mine[k] = in[(k + threadIdx.x) % n];
    sort(mine, n);
    out[threadIdx.x] = mine[n - 1] - mine[0] + depth_first(5, threadIdx.x);
}

int main() {
    const int host[9] = {4, 8, 1, 9, 2, 7, 7, 0, 5};
    int *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    kernel<<<1, 64>>>(in, out, 9);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return error != cudaSuccess;
}
